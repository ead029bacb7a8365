/**
 * Settles with the first signal that asks the service to stop: SIGTERM, SIGINT, and on a terminal SIGHUP, which it sends
 * when it is closed. A second SIGTERM or SIGINT ends the process at once. No other signal ends it.
 *
 * @param onHangup called for each SIGHUP without a terminal, which asks for a reload of the configuration
 */
export function firstSignal(onHangup: () => void): Promise<NodeJS.Signals> {
  ignoreUserSignals()
  return new Promise((resolve) => {
    let isAsked = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (isAsked) process.exit(130)
      isAsked = true
      resolve(signal)
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    process.on('SIGHUP', () => {
      if (!hasTerminal()) onHangup()
      // The shell and the kernel may both send one.
      else if (!isAsked) onSignal('SIGHUP')
    })
  })
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs the work of a command that deletes temporary files at its end, also when a signal interrupts it.
 *
 * @param what it is, such as "The backup"
 * @param work must not block the process: a signal waits until it has a turn
 * @throws Error `<what> was interrupted`
 */
export async function untilInterrupted<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController()
  const stop = () => interrupted.abort(new Error(`${what} was interrupted`))
  for (const signal of ENDING) process.once(signal, stop)
  try {
    return await work(interrupted.signal)
  } catch (error) {
    throw interrupted.signal.aborted ? interrupted.signal.reason : error
  } finally {
    for (const signal of ENDING) process.off(signal, stop)
  }
}

/** By default SIGUSR1 opens Node's debugger, to every user of the machine, and SIGUSR2 ends the process. */
export function ignoreUserSignals(): void {
  process.on('SIGUSR1', () => {}).on('SIGUSR2', () => {})
}

function hasTerminal(): boolean {
  return process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
}
