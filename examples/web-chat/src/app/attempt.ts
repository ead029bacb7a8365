/** What an access to the storage of the browser returns. It may have none left, or allow none: the page then works without. */
export function attempt<T>(access: () => T): T | undefined {
  try {
    return access()
  } catch {
    return undefined
  }
}
