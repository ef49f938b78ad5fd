"""What the words on a web page mean: the names by which sites call the same thing.

A small thesaurus of what errands meet everywhere (baskets, checkouts, signing in, addresses), in
the languages of the sites that it was made for. Pure; it says what two names have in common, what
commits, and what closes or goes on.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Each line: one concept. Phrases are looked for before words, the longest first.
_CONCEPTS = """
search: search, find, look up, lookup, look for, query, suche, suchen, chercher, recherche, rechercher, buscar, cerca
basket: basket, cart, shopping cart, bag, trolley, warenkorb, panier, carrito, cesta, carrello, winkelwagen
add: add, put, hinzufugen, ajouter, anadir, aggiungi, in den
checkout: checkout, check out, till, cash desk, kasse, zur kasse, caisse, caja, pagar, to checkout
order: place order, order, place your order, order now, submit order, complete order, buy, buy now, purchase, bestellen, bestellung, kaufen, commander, commande, pedir, comprar, complete purchase, place my order
pay: pay, pay now, payment, bezahlen, zahlung, payer, paiement
signin: sign in, signin, log in, login, log on, logon, anmelden, einloggen, connexion, se connecter, iniciar sesion, acceder
signout: sign out, signout, log out, logout, abmelden, deconnexion
register: register, sign up, signup, create account, registrieren, inscription, registrarse, enrol, enroll
next: next, continue, proceed, go on, forward, weiter, fortfahren, suivant, continuer, siguiente, continuar, avanti, next step, next page, older
previous: previous, prev, back, zuruck, precedent, anterior, newer
submit: submit, send, absenden, senden, envoyer, enviar, send off, hand in, apply
save: save, speichern, enregistrer, guardar, store, keep
confirm: confirm, confirmation, bestatigen, confirmer, confirmar, finish, complete, finalize, finalise
delete: delete, remove, erase, loschen, entfernen, supprimer, eliminar
cancel: cancel, abort, abbrechen, annuler, cancelar
close: close, dismiss, hide, schliessen, fermer, cerrar, x, skip
reject: reject, reject all, decline, refuse, no thanks, not now, maybe later, only necessary, necessary only, essential only, ablehnen, refuser, rechazar, nur notwendige, later
accept: accept, accept all, agree, i agree, allow, allow all, ok, okay, got it, understood, akzeptieren, zustimmen, einverstanden, accepter, aceptar
email: e mail, email, mail, e mail address, email address, mail address, e post, courriel, correo
password: password, pass word, passphrase, passwort, kennwort, mot de passe, contrasena
username: user, username, user name, login name, benutzername, benutzer, utilisateur, usuario
name: name, full name, your name, nom complet, vollstandiger name
firstname: first name, given name, forename, vorname, prenom, nombre
lastname: last name, surname, family name, nachname, nom, apellido
phone: phone, telephone, phone number, mobile, mobile number, cell, telefon, tel, telephone number, contact number
street: street, address, address line 1, address line, street address, strasse, adresse, anschrift, rue, direccion, line 1
city: city, town, locality, stadt, ort, ville, ciudad
postcode: postcode, post code, postal code, zip, zip code, postleitzahl, plz, code postal, codigo postal
country: country, land, pays, pais, nation
state: state, province, region, county, bundesland
quantity: quantity, qty, amount, number of items, menge, anzahl, quantite, cantidad
price: price, cost, preis, prix, precio, unit price
total: total, sum, gesamt, summe, order total, grand total
date: date, day, datum, jour, fecha, when
birth: birth, born, birthday, date of birth, geburtsdatum, naissance
message: message, comment, comments, note, notes, remarks, nachricht, bemerkung, kommentar, mensaje
filter: filter, refine, filtern, filtrer
home: home, start, startseite, accueil, inicio, main page, homepage
help: help, support, hilfe, aide, ayuda
contact: contact, contact us, kontakt, contacto
product: product, products, item, items, article, articles, goods, produkt, produkte, artikel, catalogue, catalog, shop, store, sortiment, all products
order_list: orders, my orders, order history, bestellungen, commandes, pedidos, purchases
account: account, my account, profile, konto, mein konto, compte, cuenta
download: download, herunterladen, telecharger, descargar, export
title: title, headline, heading, titel, titre
topic: topic, subject, betreff, sujet, thema, category, kategorie, categorie
people: people, persons, users, members, contacts, personen
add_new: new, create, add new, neu, anlegen, nouveau, nuevo
terms: terms, conditions, terms and conditions, agb, i accept the terms
newsletter: newsletter, subscribe, abonnieren, s abonner
delivery: delivery, shipping, versand, lieferung, livraison, envio, ship to
availability: availability, in stock, stock, verfugbar, lager
book: book, reserve, reservation, booking, buchen, reserver, reservar
apply: apply, application, request, antrag, beantragen
"""  # noqa: E501 - one concept a line reads best

# What leads to a thing is called after the thing: "View basket", "Proceed to checkout".
_WEAK = frozenset({"=next", "go", "view", "show", "open", "see", "visit"})
_COMMITTING = frozenset(
    {"order", "pay", "confirm", "delete", "submit", "cancel", "save", "register", "book", "apply",
     "signout"}
)  # fmt: skip
# These alone say that something is done for good; the others do so only as the name of a button.
FOR_GOOD = frozenset({"order", "pay", "confirm", "delete", "book", "cancel"})
_FILLERS_WORDS = """
    the a an to your my our of for in on and or der die das den zu zum zur le la les de du el y
    please here this that now it is you we us"""
_FILLERS = frozenset(_FILLERS_WORDS.split())
_HARMFUL_WORDS = """
    logout signout logoff delete remove cancel unsubscribe add buy accept order pay purchase
    confirm abmelden loschen entfernen kaufen bestellen reorder vote rate follow subscribe reset
    clear empty destroy revoke approve decline reject deconnexion supprimer eliminar vider"""
_HARMFUL = frozenset(_HARMFUL_WORDS.split())
_TOKEN_KEYS_WORDS = """
    token nonce csrf key code sig signature hash otp auth ticket"""
_TOKEN_KEYS = frozenset(_TOKEN_KEYS_WORDS.split())


# Said in several words, or in another language.
_DOES = frozenset({"signout", "delete", "cancel"})


def fold(text: str) -> str:
    """Lower case, without accents and punctuation, words apart by one space."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("\u00d7", " x "))
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    plain = re.sub(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])", " ", plain)
    return " ".join(re.findall(r"[^\W_]+", plain))


def _table() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _CONCEPTS.strip().splitlines():
        concept, _, phrases = line.partition(":")
        for phrase in phrases.split(","):
            found.setdefault(fold(phrase), concept.strip())
    return found


_PHRASES = _table()
_LONGEST = max(len(phrase.split()) for phrase in _PHRASES)


@lru_cache(maxsize=4096)
def meanings(text: str) -> frozenset[str]:
    """The concepts that a name speaks of, and its other words as they are (fillers left out)."""
    words = fold(text).split()
    found: set[str] = set()
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            concept = _PHRASES.get(" ".join(words[at : at + size]))
            if concept is not None:
                found.add(f"={concept}")
                at += size
                break
        else:
            if words[at] not in _FILLERS:
                found.add(words[at])
            at += 1
    return frozenset(found)


def concepts(text: str) -> frozenset[str]:
    """The concepts alone."""
    return frozenset(m[1:] for m in meanings(text) if m.startswith("="))


def alike(one: str, other: str) -> float:
    """How far two names mean the same, from 0 to 1: shared meanings over all of them."""
    a, b = (m - _WEAK or m for m in (meanings(one), meanings(other)))
    if not a or not b:
        return 0.0
    return len(a & b) / len(a | b)


def is_committing(name: str) -> bool:
    """Whether a button of this name may do something for good: order, pay, send, delete."""
    return bool(concepts(name) & _COMMITTING)


def is_for_good(name: str) -> bool:
    """Whether a name says so beyond doubt, on whatever it stands."""
    return bool(concepts(name) & FOR_GOOD)


def goes_on(name: str) -> bool:
    """Whether a control of this name leads to the next page of the same thing, and no further."""
    said = concepts(name)
    return bool(said & {"next"}) and not said & _COMMITTING


def closes(name: str) -> int:
    """How well a control closes what lies over a page: 3 close, 2 refuse, 1 accept, 0 not."""
    if name.strip() in ("\u00d7", "✕", "✖", "X", "x"):
        return 3
    said = concepts(name)
    if said & FOR_GOOD or said & {"newsletter", "register", "signin"}:
        return 0
    ranks = (("close", 3), ("reject", 3), ("accept", 1), ("next", 1))
    return max((rank for concept, rank in ranks if concept in said), default=0)


def is_harmful_link(name: str, url: str) -> bool:
    """Whether a link may do something when it is only opened: by its name, path or one-time token.

    Following it is left to a step that says so.
    """
    path, _, query = url.partition("?")
    words = set(re.findall(r"[a-z]+", fold(re.sub(r"^[a-z]+://[^/]*", "", path))))
    if words & _HARMFUL or set(fold(name).split()) & _HARMFUL:
        return True
    if (concepts(name) | concepts(" ".join(sorted(words, key=path.find)))) & _DOES:
        return True
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        if set(fold(key).split()) & _TOKEN_KEYS or re.fullmatch(r"[0-9a-fA-F-]{24,}", value):
            return True
        if set(fold(value).split()) & _HARMFUL and fold(key) in ("action", "do", "cmd", "op"):
            return True
    return False
