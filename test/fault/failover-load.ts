import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminClient } from '../../lib/client/admin.ts'
import type { SignedHeaders } from '../support/stream.ts'
import { signInByHand } from '../support/stream.ts'
import { watch } from './cut-stage.ts'
import { startFollowers } from './followers.ts'
import { differencesFrom, startAllFollowers } from './followers-all.ts'
import { ADA, settle, signInAt } from './people.ts'
import { startProbe } from './probes.ts'
import type { ServeProcess } from './serving.ts'

/** Posts to all nodes, and readers at each of them. */
export interface FailoverLoad {
  /** Waits for another acknowledged post at each node. */
  progress(): Promise<void>
  /** Waits for a refused post at each node. */
  refused(): Promise<void>
  /** Posts nothing while `work` runs. */
  quietly(work: () => Promise<void>): Promise<void>
  /** Opens more streams of all conversations, at their present end. */
  follow(): Promise<void>
  /** Ends. @returns what was read, and what was missing, repeated, out of order or refused for another reason */
  finish(): Promise<{ acknowledged: number; refused: number; events: number; reconnects: number; faults: string[] }>
}

/** Starts two readers of each kind at each node. */
export async function startFailoverLoad(nodes: ServeProcess[]): Promise<FailoverLoad> {
  const { conversation_id, signInAt } = await settle(nodes[0]!.base_url)
  const ada = await signInAt(nodes[0]!.base_url)
  const headers = await signInByHand(nodes[0]!.base_url, ADA.email, ADA.password)
  const position = async () => (await ada.conversations.get(conversation_id)).stream_position!
  const from = await position()
  const starts = nodes.map(({ base_url }) => ({ target: async () => base_url, cookie: headers.cookie, readers: 2 }))
  const followers = starts.map((each) => startFollowers({ ...each, conversation_id, from }))
  const ofAll = await Promise.all(starts.map(startAllFollowers))
  const latest: typeof ofAll = []
  const post = { method: 'POST', path: `/api/threads/${conversation_id}/root`, body: { content: 'hello' } } as const
  const presence = await startPresence(nodes, { ada, headers, conversation_id })
  const probes = nodes.map((node) => startProbe(node, headers, post))

  return {
    async progress() {
      await Promise.all(probes.map((probe) => probe.next(201)))
    },
    async refused() {
      await Promise.all(probes.map((probe) => probe.next(503)))
    },
    async quietly(work) {
      await Promise.all(probes.map((probe) => probe.pause()))
      await work()
      for (const probe of probes) probe.resume()
    },
    async follow() {
      latest.push(...(await Promise.all(starts.map(startAllFollowers))))
    },
    async finish() {
      await Promise.all(probes.map((probe) => probe.stop()))
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'the last' })
      const last = await position()
      const one = await Promise.all(followers.map((each) => each.finish(last)))
      const all = await Promise.all(ofAll.map((each) => each.finish([message_id])))
      const later = await Promise.all(latest.map((each) => each.finish([message_id])))
      const log = [...one[0]!.log.values()]
      const ends = later.flatMap(({ notes }) => notes.map((each) => differencesFrom([log.slice(-each.length)], each)))
      const delivered = new Set(log)
      const acknowledged = probes.flatMap(({ stored }) => [...stored])
      const figures = [...one, ...all, ...later]
      const statuses = probes.flatMap((probe) => [...probe.statuses()])
      return {
        acknowledged: acknowledged.length,
        refused: statuses.reduce((sum, [status, count]) => sum + (status === 503 ? count : 0), 0),
        events: figures.reduce((sum, { events }) => sum + events, 0),
        reconnects: figures.reduce((sum, { reconnects }) => sum + reconnects, 0),
        faults: [
          ...(await presence.finish()),
          ...figures.flatMap(({ faults }) => faults),
          ...all.flatMap(({ notes }) => notes.flatMap((each) => differencesFrom([log], each))),
          ...ends.flat(),
          ...one.slice(1).flatMap((each) => ([...each.log.values()].join() === log.join() ? [] : ['the logs differ'])),
          ...acknowledged.filter((id) => !delivered.has(id)).map((id) => `post ${id} was not delivered`),
          ...statuses.flatMap(([status]) => ([201, 503].includes(status) ? [] : [`a post got ${status}`])),
        ],
      }
    },
  }
}

/** A user with one stream, at the first node, who is always there for those of the last. */
async function startPresence(
  nodes: ServeProcess[],
  { ada, headers, conversation_id }: { ada: AdminClient; headers: SignedHeaders; conversation_id: string },
) {
  const [first, last] = [nodes[0]!, nodes.at(-1)!]
  const login = { email: 'grace@example.org', password: ADA.password }
  const { user } = await ada.users.create({ username: 'grace', ...login, roles: ['member'] })
  await ada.participants.add(conversation_id, { user_id: user.id })
  const watching = await watch({ conversation_id }, last, headers)
  const grace = await watch({ conversation_id }, first, await signInByHand(first.base_url, login.email, login.password))
  while (watching.presenceOf(user.id).at(-1) !== 'online') await sleep(10)
  const begin = watching.presenceOf(user.id).length

  return {
    /** @returns what others saw of a change */
    async finish(): Promise<string[]> {
      const read = async ({ base_url }: ServeProcess) =>
        (await (await signInAt(base_url)).presence.list({ user_ids: user.id })).presence[0]?.status
      const isOnline = async () => (await Promise.all(nodes.map(read))).every((status) => status === 'online')
      while (!(await isOnline())) await sleep(100)
      for (const stream of [watching, grace]) stream.cut()
      return watching
        .presenceOf(user.id)
        .slice(begin)
        .map((status) => `a user was ${status} for others`)
    },
  }
}
