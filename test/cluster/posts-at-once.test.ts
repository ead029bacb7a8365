import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '../../lib/storage/sql.ts'
import { seqsOf } from '../live/readers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, PASSWORD, type Person, startService, type TestService, times } from '../support/service.ts'
import { openStream, type SignedHeaders, signInByHand } from '../support/stream.ts'

const POSTS = 200

describeOnEachDatabase('two hundred posts at once into one conversation', (openUrl, dialect) => {
  let nodes: TestService[]
  let people: Person[]
  beforeAll(async () => {
    const url = await openUrl()
    nodes = await Promise.all(times(dialect === 'postgresql' ? 2 : 1, () => startService(url)))
    people = []
    for (const name of ['ada', 'grace', 'eve', 'mary', 'alan']) people.push(await nodes[0]!.signIn(name))
  })
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  // A post with a key waits for the keys of its user, and holds a connection meanwhile.
  it.each([
    ['one user', 1],
    ['five users', 5],
  ])('of %s are all answered 201, and are stored and published once, without a gap', async (_, count) => {
    const writers = people.slice(0, count)
    const conversation_id = await startConversation(writers)
    const sessions = await Promise.all(writers.map((each) => signIn(each)))
    const streams = await Promise.all(
      nodes.map(({ base_url }) => openStream(base_url, conversation_id, { cookie: sessions[0]!.cookie })),
    )
    for (const stream of streams) await stream.until('stream.ready')

    const answers = await Promise.all(
      times(POSTS, (n) => {
        // Every node gets posts with a key and posts without one.
        const node = nodes[Math.floor(n / 2) % nodes.length]!
        return post(node, conversation_id, { n, headers: sessions[n % count]! })
      }),
    )
    expect(answers.filter(({ status }) => status !== 201)).toEqual([])
    const ids = answers.map(({ message_id }) => message_id).sort()
    expect(new Set(ids).size).toBe(POSTS)

    for (const stream of streams) {
      const received: string[] = []
      const seen = await stream.until('message.new', (event) => {
        if (event.type === 'message.new') received.push(event.payload.message.id)
        return received.length === POSTS
      })
      expect(received.sort()).toEqual(ids)
      const seqs = seqsOf(seen)
      // Two events for each thread.
      expect(seqs).toEqual(times(2 * POSTS, (n) => seqs[0]! + n))
      await stream.close()
    }
    expect(await listStored(conversation_id)).toEqual(ids)
  })

  it('leave a consistent database', async () => {
    expect((await nodes[0]!.chat.ops.fsck()).findings).toEqual([])
  })

  async function startConversation([ada, ...others]: Person[]): Promise<string> {
    const { conversation_id } = await ada!.conversations.create()
    for (const { id } of others) await ada!.participants.add(conversation_id, { user_id: id })
    return conversation_id
  }

  const signIn = ({ email }: Person) => signInByHand(nodes[0]!.base_url, email, PASSWORD)

  /** Without the client, which repeats a post with a key that is refused. */
  async function post(
    node: TestService,
    conversation_id: string,
    { n, headers }: { n: number; headers: SignedHeaders },
  ) {
    const response = await fetch(`${node.base_url}/api/threads/${conversation_id}/root`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        ...(n % 2 && { 'idempotency-key': `${conversation_id}-${n}` }),
      },
      body: JSON.stringify({ content: `${n}` }),
    })
    return { status: response.status, ...((await response.json()) as { message_id: string; code?: string }) }
  }

  async function listStored(conversation_id: string): Promise<string[]> {
    const rows = await innerState(nodes[0]!).db.all<{ id: string }>(
      sql`SELECT id FROM messages WHERE conversation_id = ${conversation_id} ORDER BY id`,
    )
    return rows.map(({ id }) => id)
  }
})
