"""A secret appears in no stored byte: runs that use it are made, then every file is searched."""

import base64
from pathlib import Path
from urllib.parse import quote

from tests.journeys.journey import SECRETS, Journey, edited


def encodings(secret: str) -> set[bytes]:
    """The secret as it might be written down."""
    plain = secret.encode()
    return {
        plain,
        quote(secret, safe="").encode(),
        base64.b64encode(plain).rstrip(b"="),
        plain.hex().encode(),
        secret.encode("utf-16-le"),
    }


def found_in(folder: Path) -> set[str]:
    wanted = {e for secret in SECRETS.values() for e in encodings(secret)}
    files = [p for p in folder.rglob("*") if p.is_file()]
    assert any(p.suffix == ".db" for p in files)
    return {p.name for p in files if any(w in p.read_bytes() for w in wanted)}


async def test_a_met_run_and_a_failed_one_leave_no_secret_behind(
    journey: Journey, tmp_path: Path
) -> None:
    met = await journey.run("compare_and_order")
    assert met.exit_code == 0
    # The password is typed, then the button is not found: evidence is kept with it on the page.
    (tmp_path / "edited").mkdir()
    broken = edited(
        "sign_in_shop_a", tmp_path / "edited", ('button "Sign in"', 'button "Sign me in"')
    )
    failed = await journey.run(broken)
    assert failed.exit_code == 1
    kept = [p for p in (tmp_path / "store").rglob("*") if p.suffix in (".png", ".jpeg", ".txt")]
    assert kept, "no evidence was kept"
    assert found_in(tmp_path / "store") == set()
