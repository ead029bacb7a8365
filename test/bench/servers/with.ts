/** What can be stopped: a server, or several. */
interface Stoppable {
  stop(): Promise<void>
}

/** Runs `work` with two servers that are starting, and stops both afterwards, also when one does not start. */
export async function withServers<A extends Stoppable, B extends Stoppable, T>(
  starting: Promise<A>,
  startingPeer: Promise<B>,
  work: (service: A, peer: B) => Promise<T>,
): Promise<T> {
  try {
    return await work(...(await Promise.all([starting, startingPeer])))
  } finally {
    const started = await Promise.allSettled([starting, startingPeer])
    await Promise.all(started.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
}
