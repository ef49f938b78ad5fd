"""Recipes for the runtime's tests: small, and each with what its tests are about."""

ORDER = """
webagent: 1
id: order
errand: Order the cheaper of two offers
inputs:
  query: {type: string, default: cable}
  people: {type: list, default: [{id: ann}, {id: bob}, {id: cyd}]}
secrets:
  password: {env: PASSWORD, for: "http://a.test"}
steps:
  sign_in:
    do: sign_in
    goal: Sign in at A
    segment:
      - goto: http://a.test/login
      - fill: {textbox "Name": me}
      - fill: {textbox "Password": "{{ secrets.password }}"}
      - click: button "Sign in"
    expect:
      - element: link "Sign out"
  search_a:
    do: search
    goal: Find offers in A
    segment:
      - goto: http://a.test/
      - fill: {searchbox "Search": "{{ query }}"}
      - press: Enter
      - read:
          offers:
            each: article
            key: link
            fields: {title: h2, price: .price, link: {css: a, attr: href}}
    expect:
      - url: "**/search"
      - output: {offers: {min: 1}}
  search_b:
    do: search
    goal: Find offers in B
    segment:
      - goto: http://b.test/
      - fill: {searchbox "Search": "{{ query }}"}
      - press: Enter
      - read:
          offers:
            each: article
            key: link
            fields: {title: h2, price: .price, link: {css: a, attr: href}}
    expect:
      - url: "**/search"
      - output: {offers: {min: 1}}
  choose:
    do: compare
    from: "{{ search_a.offers + search_b.offers }}"
    order: [price]
    take: 1
  register:
    do: fill
    goal: Add each person
    for_each: "{{ people }}"
    key: item.id
    segment:
      - goto: http://c.test/people
      - fill: {textbox "Name": "{{ item.id }}"}
      - click: button "Add"
      - read: {added: .added}
    expect:
      - text: "Added {{ item.id }}"
      - output: {added: {contains: a}}
  order:
    do: submit
    goal: Order the chosen offer
    needs: [register]
    once: {name: order, key: "{{ query }} {{ run.date }}"}
    session: sign_in
    scope: {origins: ["http://a.test"]}
    segment:
      - goto: "{{ choose.link }}"
      - click: button "Add to basket"
      - commit: {click: button "Place order"}
      - read: {order_number: .order-no}
    before_commit:
      - rows: {table "Basket": 1}
    expect:
      - text: Thank you
      - output: {order_number: {matches: "[0-9]+"}}
    probe:
      segment:
        - goto: http://a.test/orders
        - read: {orders: {each: tr, key: order_number, fields: {order_number: .order-no}}}
      settle: 10
    reset:
      - goto: http://a.test/basket
      - click: button "Empty basket"
"""

CHAIN = """
webagent: 1
id: chain
errand: A wizard of three pages, and something beside it
steps:
  page_1:
    do: fill
    goal: First page
    segment:
      - goto: http://w.test/1
      - fill: {textbox "Name": me}
      - click: button "Next"
      - read: {first: .title}
    expect: [{text: Page 2}]
  page_2:
    do: fill
    goal: Second page
    continues: page_1
    segment:
      - fill: {textbox "Street": here}
      - click: button "Next"
    expect: [{text: Page 3}]
  page_3:
    do: fill
    goal: Third page
    continues: page_2
    segment:
      - click: button "Next"
      - read: {summary: .summary}
    expect: [{text: Review}]
  beside:
    do: read
    goal: Something that has nothing to do with it
    segment:
      - goto: http://x.test/
      - read: {title: h1}
    expect: [{url: "**/"}]
"""

FAN = """
webagent: 1
id: fan
errand: Two branches that meet
steps:
  left:
    do: read
    goal: Left
    segment: [{goto: "http://l.test/"}, {read: {value: .v}}]
    expect: [{text: Left}]
  right:
    do: read
    goal: Right
    segment: [{goto: "http://r.test/"}, {read: {value: .v}}]
    expect: [{text: Right}]
  middle:
    do: read
    goal: Uses the left
    segment: [{goto: "http://m.test/{{ left.value }}"}, {read: {value: .v}}]
    expect: [{text: Middle}]
  final:
    do: read
    goal: Uses both
    segment: [{goto: "http://z.test/{{ middle.value }}/{{ right.value }}"}, {read: {value: .v}}]
    expect: [{text: Final}]
"""
