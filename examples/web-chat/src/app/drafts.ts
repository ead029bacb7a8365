/** What was typed and not sent, kept until it is: by user and by the thread or conversation it is for. */
const PREFIX = 'chat:draft:'

export function readDraft(user_id: string, place: string): string {
  return attempt(() => localStorage.getItem(keyOf(user_id, place))) ?? ''
}

export function keepDraft(user_id: string, place: string, text: string): void {
  const key = keyOf(user_id, place)
  attempt(() => (text === '' ? localStorage.removeItem(key) : localStorage.setItem(key, text)))
}

/** At a sign-out. */
export function forgetDrafts(user_id: string): void {
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(keyOf(user_id, ''))) localStorage.removeItem(key)
  })
}

function keyOf(user_id: string, place: string): string {
  return `${PREFIX}${user_id}:${place}`
}

/** A browser may have no storage left, or allow none: the page then works without. */
function attempt<T>(access: () => T): T | undefined {
  try {
    return access()
  } catch {
    return undefined
  }
}
