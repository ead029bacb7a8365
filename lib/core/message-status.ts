/** Whether a message is not written to its end yet: it is being written, or a call of a tool waits for participants. */
export function isUnderWay({ status }: { status: string }): boolean {
  return status === 'streaming' || status === 'waiting'
}
