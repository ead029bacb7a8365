/** Settles with the first SIGTERM or SIGINT. The second one ends the process at once. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isAsked = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (isAsked) process.exit(130)
      isAsked = true
      resolve(signal)
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}
