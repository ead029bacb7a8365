/** A key that no other call of the user has: it is no secret, so it works where a page or a runtime has no `crypto`. */
export const newKey = (): string => `${Date.now()}-${Math.random()}`
