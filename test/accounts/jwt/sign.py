"""Signs the tokens that its argument names, by PyJWT, and prints them with the public keys as JSON."""

import json
import sys
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

MAKERS = {
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "PS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


def public(algorithm, key):
    """The public key in the form of RFC 7517."""
    text = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key())
    return {**json.loads(text), "kid": algorithm, "alg": algorithm, "use": "sig"}


def main():
    wanted = json.loads(sys.argv[1])
    keys = {algorithm: make() for algorithm, make in MAKERS.items()}
    now = int(time.time())
    tokens = {}
    for name, (algorithm, claims) in wanted["tokens"].items():
        said = {"iat": now, "exp": now + 600, **wanted["claims"], **claims}
        key = keys.get(algorithm, wanted.get("secret"))
        key = None if algorithm == "none" else MAKERS[algorithm]() if name == "another key" else key
        # A claim with null is left out, a number in a text is counted from now on.
        said = {claim: value for claim, value in said.items() if value is not None}
        for claim in ("iat", "exp"):
            if isinstance(said.get(claim), str):
                said[claim] = now + int(said[claim])
        tokens[name] = jwt.encode(said, key, algorithm=algorithm, headers={"kid": algorithm})
    print(json.dumps({"jwks": {"keys": [public(*each) for each in keys.items()]}, "tokens": tokens}))


main()
