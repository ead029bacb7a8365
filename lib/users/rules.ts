/** What makes two names or addresses the same. Computed here alone: `lower()` of the databases differ. */
export function uniqueKey(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase()
}

/** The username somebody gets who chose none: the part of the address before the @. */
export function usernameOf(email: string): string {
  return email.trim().split('@')[0]!.slice(0, 64)
}
