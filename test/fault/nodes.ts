import { type ServerProcess, startProcess } from './process.ts'

/** One service, or two on one database: the first is killed, and readers are connected to the last. */
export interface Nodes {
  /** The address of the one that is killed. */
  first: string
  /** The address of the one with the readers. */
  last: string
  /** `last`, once it responds. */
  reachable(): Promise<string>
  /** Kills the first. @returns when that was, by `performance.now()` */
  kill(): Promise<number>
  /** Starts the first again, at the same address. */
  restart(): Promise<void>
  /** Ends all of them. */
  stop(): Promise<void>
}

/** Starts this many services on a database. */
export async function startNodes(url: string, count: 1 | 2, config: object): Promise<Nodes> {
  const servers: ServerProcess[] = []
  while (servers.length < count) servers.push(await startProcess(url, { config }))
  const [first, last] = [servers[0]!, servers.at(-1)!]
  let isUp = Promise.resolve()
  let setUp = () => {}
  return {
    first: first.base_url,
    last: last.base_url,
    reachable: () => isUp.then(() => last.base_url),
    async kill() {
      if (count === 1) isUp = new Promise((resolve) => (setUp = resolve))
      const killed = performance.now()
      await servers[0]!.kill()
      return killed
    },
    async restart() {
      servers[0] = await startProcess(url, { port: first.port, config })
      setUp()
    },
    async stop() {
      await Promise.all(servers.map((server) => server.kill()))
    },
  }
}
