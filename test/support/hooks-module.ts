/** A module of a host that is given as its hooks. */
export function beforeMessage(): undefined {}

/** What else it has. */
export const words = ['damn']
