/** Whether a conversation is muted: until an instant, or for ever. */
export function isMuted(muted_until: string | undefined, now = Date.now()): boolean {
  return muted_until !== undefined && (muted_until === 'forever' || Date.parse(muted_until) > now)
}
