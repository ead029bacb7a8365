import { setTimeout as sleep } from 'node:timers/promises'
import { type CutStage, type Guest, type Watching, watch } from './cut-stage.ts'
import { startFollowers } from './followers.ts'
import { differencesFrom, startAllFollowers } from './followers-all.ts'
import { type Probe, startProbe } from './probes.ts'

/** The number of readers of each kind at each node. */
const READERS = 2

/** Users with one stream, at the node that is cut off unless noted otherwise. */
export interface CutPeople {
  /** The administrator, at the other node and here. */
  ada: Watching
  here: Watching
  staying: { guest: Guest; stream: Watching }
  /** Is removed from the conversation meanwhile. */
  removed: { guest: Guest; stream: Watching }
  /** Closes a stream at the other node meanwhile. */
  leaving: { guest: Guest; stream: Watching }
}

/** Opens the streams. @param name makes the names of the users unique */
export async function openStreams(stage: CutStage, name: string): Promise<CutPeople> {
  const { cut, other, headers } = stage
  const [ada, here] = [await watch(stage, other, headers), await watch(stage, cut, headers)]
  const come = async (what: string, node: CutStage['cut']) => {
    const guest = await stage.invite(`${what}-${name}`)
    return { guest, stream: await watch(stage, node, guest.headers) }
  }
  const staying = await come('staying', cut)
  const removed = await come('removed', cut)
  const leaving = await come('leaving', other)
  const isSeen = (watching: Watching, { guest }: typeof staying) => watching.presenceOf(guest.id).at(-1) === 'online'
  while (!isSeen(ada, staying) || !isSeen(here, leaving)) await sleep(10)
  return { ada, here, staying, removed, leaving }
}

/** Readers of the conversation and of all conversations, at both nodes. They reconnect to the same node. */
export async function startReading({ cut, other, ada, headers: { cookie }, conversation_id }: CutStage) {
  const position = async () => (await ada.conversations.get(conversation_id)).stream_position!
  const from = await position()
  const starts = [cut, other].map(({ base_url }) => ({ target: async () => base_url, cookie, readers: READERS }))
  const followers = starts.map((each) => startFollowers({ ...each, conversation_id, from }))
  const ofAll = await Promise.all(starts.map(startAllFollowers))

  return {
    /** Waits until all of them have got the last event, and ends. @param stored the posts that each must have got */
    async finish(stored: string[]) {
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'the last' })
      const last = await position()
      const one = await Promise.all(followers.map((each) => each.finish(last)))
      const all = await Promise.all(ofAll.map((each) => each.finish([message_id])))
      const { log } = one[0]!
      const delivered = new Set(log.values())
      const differences = all.flatMap(({ notes }) =>
        notes.flatMap((each, reader) =>
          differencesFrom([[...log.values()]], each).map((what) => `reader ${reader} of all: ${what}`),
        ),
      )
      const differing = one.slice(1).filter((each) => JSON.stringify([...each.log]) !== JSON.stringify([...log]))
      return {
        log,
        events: [...one, ...all].reduce((sum, { events }) => sum + events, 0),
        reconnects: [...one, ...all].reduce((sum, { reconnects }) => sum + reconnects, 0),
        faults: [
          ...[...one, ...all].flatMap(({ faults }) => faults),
          ...differences,
          ...differing.map(() => 'the readers of the two nodes got different events'),
          ...stored.filter((id) => !delivered.has(id)).map((id) => `post ${id} was not delivered`),
        ],
      }
    },
  }
}

/** Requests of all kinds, to both nodes. */
export interface CutProbes {
  /** To the other node: a post, and more. */
  post: Probe
  elsewhere: Probe[]
  /** To the node that is cut off: a post, and more that need the database. */
  postAtCut: Probe
  atCut: Probe[]
  ready: Probe
  alive: Probe
  all: Probe[]
}

/** Starts the requests. */
export function startProbes({ cut, other, headers, conversation_id }: CutStage): CutProbes {
  const body = { content: 'hello' }
  const post = { method: 'POST', path: `/api/threads/${conversation_id}/root`, body } as const
  const read = { path: `/api/conversations/${conversation_id}` }
  const [ready, alive, stream] = [{ path: '/readyz' }, { path: '/healthz' }, { path: '/api/stream' }]
  const elsewhere = [post, read, ready].map((each) => startProbe(other, headers, each))
  const atCut = [post, read, stream].map((each) => startProbe(cut, headers, each))
  const own = { ready: startProbe(cut, headers, ready), alive: startProbe(cut, headers, alive) }
  const all = [...elsewhere, ...atCut, own.ready, own.alive]
  return { elsewhere, atCut, ...own, post: elsewhere[0]!, postAtCut: atCut[0]!, all }
}

/** Requests an answer that does not end at the node that is cut off, and waits for its first text. @returns its thread */
export async function ask({ ada, adaAtCut, conversation_id, upstream }: CutStage, prompt: string): Promise<string> {
  const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'root' })
  await adaAtCut.messages.reply(root_id, { content: prompt, role: 'assistant' })
  while (!upstream.to(prompt)?.text) await sleep(5)
  return root_id
}
