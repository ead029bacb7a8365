import { setTimeout as sleep } from 'node:timers/promises'
import { type ServerProcess, startProcess } from './process.ts'

/** How far the clock of the last node is ahead of the others. */
const SECONDS_AHEAD = 10

/** Nodes on one database, which die and are replaced. */
export interface Fleet {
  /** One of the nodes that run, by chance. Waits for one. */
  pick(): Promise<ServerProcess>
  /** The node at this place, if it runs. */
  at(index: number): ServerProcess | undefined
  /** Kills the node at this place. */
  kill(index: number): Promise<void>
  /** Starts another node there. */
  replace(index: number): Promise<void>
  /** Stops it as if its machine hung. Nothing is sent to it meanwhile. @returns what continues it */
  pause(index: number): () => void
  /** Ends all of them. */
  stop(): Promise<void>
}

/** Starts so many nodes, with tools if they have a file for `effects`; else the clock of the last one is ahead. */
export async function startFleet(
  url: string,
  { count, config, random, effects }: { count: number; config: object; random: () => number; effects?: string },
): Promise<Fleet> {
  const all: ServerProcess[] = []
  const serving = new Map<number, ServerProcess>()

  async function replace(index: number): Promise<void> {
    const special = effects ? { effects } : { seconds_ahead: index === count - 1 ? SECONDS_AHEAD : 0 }
    const node = await startProcess(url, { config, ...special })
    all.push(node)
    serving.set(index, node)
  }
  for (let index = 0; index < count; index++) await replace(index)

  return {
    replace,
    at: (index) => serving.get(index),
    async pick() {
      while (serving.size === 0) await sleep(5)
      const nodes = [...serving.values()]
      return nodes[Math.floor(random() * nodes.length)]!
    },
    async kill(index) {
      const node = serving.get(index)!
      serving.delete(index)
      await node.kill()
    },
    pause(index) {
      const node = serving.get(index)!
      serving.delete(index)
      node.signal('SIGSTOP')
      return () => {
        node.signal('SIGCONT')
        serving.set(index, node)
      }
    },
    async stop() {
      serving.clear()
      await Promise.all(all.map((node) => node.kill()))
    },
  }
}
