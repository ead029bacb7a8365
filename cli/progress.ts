/** How far a long command is, on a terminal: one line that the next one replaces. */
export function showProgress(subject: string, count?: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${subject}${count === undefined ? '' : ` ${count}`}\r`)
}
