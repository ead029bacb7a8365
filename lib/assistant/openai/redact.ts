/** Enough to recognise an error. */
const LENGTH = 200

/** A shorter value is not a secret, and would redact half of the text. */
const MIN_SECRET_LENGTH = 4

/**
 * Makes the loggable part of a server's response: its start, without the secrets we sent. Some servers repeat the key
 * that they refuse.
 *
 * @param secrets texts that must never be logged, also as JSON escapes them
 */
export function createQuote(secrets: string[]): (said: string) => string {
  const blots = secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    // The longest first: a secret that is part of another one would leave the rest of it.
    .sort((a, b) => b.length - a.length)
  // A secret is redacted before the text is cut, so none is halved; the same number of stars keeps all positions.
  const seen = LENGTH + (blots[0]?.length ?? 0)
  return (said) =>
    blots.reduce((text, blot) => text.replaceAll(blot, '*'.repeat(blot.length)), said.slice(0, seen)).slice(0, LENGTH)
}

/** An error code of a server: too short for a text. */
const CODE = /^[a-z][\w.-]{1,39}$/i

/**
 * Makes the loggable part of a server's error: its code, if it has one. Never its text, which may contain user data or
 * repeat the prompt.
 *
 * @param quote redacts secrets: a code with one is dropped
 */
export function createSummary(quote: (said: string) => string): (said: string) => string {
  return (said) => {
    const { code, type } = errorIn(said)
    const names = [code, type].flatMap((part) => (typeof part === 'number' ? String(part) : part))
    const codes = names.filter((name) => typeof name === 'string' && (CODE.test(name) || /^\d{1,5}$/.test(name)))
    const shown = [...new Set(codes as string[])].filter((name) => quote(name) === name)
    return shown.join(', ') || `${said.length} characters without a code`
  }
}

/** The error in a response or in a line of a stream; empty if there is none. */
function errorIn(said: string): { code?: unknown; type?: unknown } {
  try {
    const json = Object(JSON.parse(said.replace(/^(error|data): ?/, '')))
    return Object(json.error ?? json)
  } catch {
    return {}
  }
}
