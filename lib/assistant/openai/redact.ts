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

/** A name that servers give an error: no room for a text. */
const CODE = /^[a-z][\w.-]{1,39}$/i

/**
 * Makes of what a server said what may be logged of it: the code of its error, if it has one. Never its text, which may
 * be somebody's, or repeat what was asked.
 *
 * @param quote leaves out secrets: a code that has one is none
 */
export function createSummary(quote: (said: string) => string): (said: string) => string {
  return (said) => {
    const { code, type } = errorIn(said)
    const names = [code, type].flatMap((each) => (typeof each === 'number' ? String(each) : each))
    const codes = names.filter((name) => typeof name === 'string' && (CODE.test(name) || /^\d{1,5}$/.test(name)))
    const shown = [...new Set(codes as string[])].filter((name) => quote(name) === name)
    return shown.join(', ') || `${said.length} characters without a code`
  }
}

/** The error in an answer, or in a line of a stream; empty where there is none. */
function errorIn(said: string): { code?: unknown; type?: unknown } {
  try {
    const json = Object(JSON.parse(said.replace(/^(error|data): ?/, '')))
    return Object(json.error ?? json)
  } catch {
    return {}
  }
}
