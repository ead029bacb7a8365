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

/** By default SIGUSR1 opens Node's debugger, to every user of the machine, and SIGUSR2 ends the process. */
export function ignoreUserSignals(): void {
  process.on('SIGUSR1', () => {}).on('SIGUSR2', () => {})
}

function hasTerminal(): boolean {
  return process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
}
