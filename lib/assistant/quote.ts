/** Enough to know an error by. */
const LENGTH = 200

/** Anything shorter is no secret, and would blot out half of the text. */
const SHORTEST_SECRET = 4

/**
 * Makes of what a server said what may be logged of it: its start, without what we sent. Some servers repeat the key
 * that they refuse.
 *
 * @param secrets what must never be logged, also in JSON's spelling
 */
export function createQuote(secrets: string[]): (said: string) => string {
  const blots = secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    // The longest first: what is a part of another would leave the rest of it.
    .sort((a, b) => b.length - a.length)
  // A secret that the cut would halve is seen whole, and stars as long as it keep everything in its place.
  const seen = LENGTH + (blots[0]?.length ?? 0)
  return (said) =>
    blots.reduce((text, blot) => text.replaceAll(blot, '*'.repeat(blot.length)), said.slice(0, seen)).slice(0, LENGTH)
}
