/** Whether a message is still being written, or goes on once a tool has been approved: it can be stopped. */
export function isRunning({ status }: { status: string }): boolean {
  return status === 'streaming' || status === 'waiting'
}
