/** A day begins at midnight, UTC. Anything else is an instant, or refused as one. */
export function instantOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
}
