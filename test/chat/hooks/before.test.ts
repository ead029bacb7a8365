import { beforeAll, beforeEach, expect, it } from 'vitest'
import {
  type Actor,
  type EventAfter,
  type Hooks,
  type JoinBefore,
  type MessageBefore,
  OPERATOR,
} from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'

const NEVER = new Promise<undefined>(() => {})

describeOnEachDatabase('the hooks of a host', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    return [
      await startService(url, { ports: { hooks }, config: { attachments: await filesInFolder() } }),
      await startService(url, { ports: { hooks: { afterEvent: (event) => void elsewhere.push(event) } } }),
    ]
  })
  let ada: Person
  let grace: Person
  let actor: Actor
  let conversation_id: string
  const messages: MessageBefore[] = []
  const joins: JoinBefore[] = []
  const events: EventAfter[] = []
  const elsewhere: EventAfter[] = []
  let verdict: () => ReturnType<NonNullable<Hooks['beforeMessage']>>
  let admit: () => ReturnType<NonNullable<Hooks['beforeJoin']>>
  const hooks: Hooks = {
    beforeMessage(message) {
      messages.push(message)
      return verdict()
    },
    beforeJoin(join) {
      joins.push(join)
      return admit()
    },
    afterEvent: (event) => void events.push(event),
  }

  beforeAll(async () => {
    verdict = admit = () => undefined
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actor = await service.chat.users.actor(ada.id)
    conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
  })
  beforeEach(async () => {
    verdict = admit = () => undefined
    hooks.failure = 'refuse'
    await innerState(service).host.afterEvents.idle()
    for (const seen of [messages, joins, events, elsewhere]) seen.length = 0
  })

  const seen = <T>(list: T[]) => list.splice(0)

  it('are asked about posts, replies, questions and edits, over HTTP and in the process alike', async () => {
    const root = await ada.messages.postRoot(conversation_id, { content: 'one', metadata: { a: 1 } })
    const given = { conversation_id, role: 'user' }
    expect(seen(messages)).toEqual([
      { ...given, actor: expect.objectContaining({ user_id: ada.id }), content: 'one', metadata: { a: 1 } },
    ])
    await service.chat.messages.reply(actor, root.message_id, { content: 'two' })
    await ada.messages.postRoot(conversation_id, { content: 'why?', role: 'assistant' })
    await innerState(service).answers.idle()
    await ada.messages.edit(root.message_id, { content: 'three' })
    const quote = { quote_id: root.message_id }
    const quoting = await ada.messages.postRoot(conversation_id, { content: 'four', ...quote })
    await ada.messages.edit(quoting.message_id, { content: 'five' })
    expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'no', quote_id: ada.id }))).toBe('not_found')
    expect(seen(messages)).toMatchObject([
      { ...given, parent_id: root.message_id, content: 'two', actor },
      { conversation_id, role: 'assistant', content: 'why?' },
      { ...given, message_id: root.message_id, content: 'three' },
      { ...given, content: 'four', ...quote },
      { ...given, message_id: quoting.message_id, content: 'five', ...quote },
    ])
    // Without a role, the hook gets the one that the layout gives; it holds, whatever the layout is by the time of the post.
    const { conversation_id: talk } = await ada.conversations.create({ layout: 'assistant' })
    const asked = await ada.messages.postRoot(talk, { content: 'how?' })
    await innerState(service).answers.idle()
    expect(asked.message.role).toBe('assistant')
    expect(seen(messages)).toMatchObject([{ conversation_id: talk, role: 'assistant', content: 'how?' }])
    verdict = async () => void (await ada.conversations.rename(talk, { layout: 'stream' }))
    expect((await ada.messages.postRoot(talk, { content: 'and now?' })).message.role).toBe('assistant')
    await innerState(service).answers.idle()
    expect((await ada.messages.postRoot(talk, { content: 'now' })).message.role).toBe('user')
    expect(seen(messages).map(({ role }) => role)).toEqual(['assistant', 'user'])
    verdict = () => undefined
  })

  it('see the files that a message gets, and none that it may not have', async () => {
    const upload = async (user: Actor, name: string) => {
      const { attachment } = await service.chat.attachments.create(user, conversation_id, { name, size: 1 })
      await service.chat.attachments.putPart(user, attachment.id, 1, { bytes: Buffer.from('x') })
      return attachment.id
    }
    const [one, two, three] = [await upload(actor, 'one.txt'), await upload(actor, 'two.txt'), await upload(actor, '3')]
    const shown = (id: string, name: string) => expect.objectContaining({ id, name, size: 1, status: 'ready' })
    const input = { content: '', attachment_ids: [one, two], idempotency_key: 'files' }
    const { message_id } = await service.chat.messages.postRoot(actor, conversation_id, input)
    expect(seen(messages)).toMatchObject([{ content: '', attachments: [shown(one, 'one.txt'), shown(two, 'two.txt')] }])
    await service.chat.messages.postRoot(actor, conversation_id, input)
    expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'x', attachment_ids: [one] }))).toBe(
      'not_found',
    )
    expect(seen(messages)).toEqual([])
    await ada.messages.edit(message_id, { content: 'as before' })
    await ada.messages.edit(message_id, { content: 'another', attachment_ids: [two, three] })
    await ada.messages.edit(message_id, { content: 'none', attachment_ids: [] })
    expect(seen(messages).map(({ attachments }) => attachments?.map(({ id }) => id))).toEqual([
      undefined,
      [two, three],
      [],
    ])
    const racing = await upload(actor, 'racing.txt')
    const again = { content: 'once', attachment_ids: [racing], idempotency_key: 'racing' }
    const posts = await Promise.all(times(4, () => service.chat.messages.postRoot(actor, conversation_id, again)))
    expect(new Set(posts.map((each) => each.message_id)).size).toBe(1)
  })

  it('change no rights of the caller', async () => {
    verdict = () => {
      const roles = messages[0]!.actor!.roles as string[]
      roles.push('admin')
      return undefined
    }
    const caller: Actor = { ...actor, roles: ['member'] }
    await service.chat.messages.postRoot(caller, conversation_id, { content: 'hello' })
    expect(caller.roles).toEqual(['member'])
  })

  it('refuse with a text that the caller reads, and nothing is stored', async () => {
    verdict = async () => ({ refuse: 'Please be polite.' })
    await expect(service.chat.messages.postRoot(actor, conversation_id, { content: 'rude' })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Please be polite.',
    })
    const before = await ada.threads.list(conversation_id)
    await expect(ada.messages.postRoot(conversation_id, { content: 'rude' })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Please be polite.',
    })
    expect(await ada.threads.list(conversation_id)).toEqual(before)
  })

  it('replace a text, which is validated again', async () => {
    verdict = () => ({ content: 'a *** word' })
    const posted = await ada.messages.postRoot(conversation_id, { content: 'a bad word' })
    expect(posted.message.content).toBe('a *** word')
    verdict = () => ({ content: 'edited by the host' })
    await ada.messages.edit(posted.message_id, { content: 'edited' })
    expect((await ada.messages.get(posted.message_id)).content).toBe('edited by the host')
    for (const content of ['', 'x'.repeat(65_537)]) {
      verdict = () => ({ content })
      expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'fine' }))).toBe('validation_failed')
    }
  })

  it('are not asked about a repeated post, also when they have changed its text', async () => {
    verdict = () => ({ content: 'changed' })
    const post = { content: 'once', idempotency_key: 'the-key' }
    const first = await service.chat.messages.postRoot(actor, conversation_id, post)
    expect(seen(messages)).toHaveLength(1)
    verdict = () => ({ refuse: 'never again' })
    const second = await service.chat.messages.postRoot(actor, conversation_id, post)
    expect([second.message_id, second.message.content]).toEqual([first.message_id, 'changed'])
    expect(messages).toEqual([])
  })

  it('are not asked about what is refused anyway', async () => {
    verdict = () => ({ refuse: 'a secret of this conversation' })
    expect(await codeOf(grace.messages.postRoot(conversation_id, { content: 'let me in' }))).toBe('not_found')
    const { message_id } = await postUnasked('mine')
    expect(await codeOf(grace.messages.reply(message_id, { content: 'let me in' }))).toBe('not_found')
    expect(await codeOf(grace.messages.edit(message_id, { content: 'let me in' }))).toBe('not_found')
    expect(await codeOf(grace.participants.add(conversation_id, { user_id: ada.id }))).toBe('not_found')
    expect([messages, joins]).toEqual([[], []])
  })

  /** Through a node whose host has no hooks for messages. */
  const postUnasked = (content: string) => node.chat.messages.postRoot(actor, conversation_id, { content })

  it('make a post unavailable when they fail or take too long, or pass it if so configured', async () => {
    const failing: (typeof verdict)[] = [
      () => NEVER,
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('down')
      },
      () => ({ refuse: 5 }) as unknown as undefined,
      () => ({ refused: 'misspelt, so that it would refuse nothing' }) as unknown as undefined,
    ]
    for (verdict of failing) {
      expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'hello' }))).toBe('unavailable')
    }
    hooks.failure = 'pass'
    for (verdict of failing) {
      const { message } = await ada.messages.postRoot(conversation_id, { content: 'hello' })
      expect(message.content).toBe('hello')
    }
  })

  it('are asked about a new participant, added or invited, and refuse one', async () => {
    await ada.participants.add(conversation_id, { username: 'grace' })
    expect(seen(joins)).toMatchObject([
      { actor: { user_id: ada.id }, conversation_id, user_id: grace.id, role: 'member' },
    ])
    expect(await codeOf(ada.participants.add(conversation_id, { user_id: grace.id }))).toBe('already_participant')
    const eve = await service.signIn('eve')
    const { token = '' } = await ada.invites.create(conversation_id, {})
    expect(seen(joins)).toEqual([])
    admit = () => ({ refuse: 'Not in this team.' })
    await expect(eve.invites.accept({ token })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Not in this team.',
    })
    expect(await codeOf(ada.participants.add(conversation_id, { user_id: eve.id }))).toBe('forbidden')
    expect(seen(joins)).toMatchObject([
      { actor: { user_id: eve.id }, conversation_id, user_id: eve.id, role: 'member' },
      { actor: { user_id: ada.id }, conversation_id, user_id: eve.id },
    ])
    const newcomer = { token, username: 'new', email: 'new@example.org', password: PASSWORD }
    expect(await codeOf(service.client().invites.accept(newcomer))).toBe('forbidden')
    expect(seen(joins)).toEqual([{ conversation_id, email: 'new@example.org', role: 'member' }])
    admit = () => undefined
    await eve.invites.accept({ token })
    expect((await ada.conversations.get(conversation_id)).participants.map((each) => each.username)).toContain('eve')
  })

  it('are asked about a newcomer in each room of the invite that is still there, and refuse the sign-up', async () => {
    const { conversation_id: deleted } = await ada.conversations.create({ title: 'Deleted' })
    const { token = '' } = await service.chat.newcomers.invite(OPERATOR, {
      email: 'nina@example.org',
      mail: false,
      conversation_ids: [conversation_id, deleted],
    })
    await ada.conversations.remove(deleted)
    const account = { token, username: 'nina', password: PASSWORD }
    admit = () => ({ refuse: 'Not in this team.' })
    await expect(service.client().newcomers.signUp(account)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Not in this team.',
    })
    admit = () => undefined
    expect(await service.client().newcomers.signUp(account)).toMatchObject({ conversation_id })
    const asked = { conversation_id, email: 'nina@example.org', role: 'member' }
    expect(seen(joins)).toEqual([asked, asked])
  })

  it('get each event of the log once, in order, on the node that has written it', async () => {
    const { conversation_id: id } = await ada.conversations.create({ title: 'Order' })
    const root = await ada.messages.postRoot(id, { content: 'root' })
    await Promise.all(times(10, (n) => ada.messages.reply(root.message_id, { content: `reply ${n}` })))
    await node.chat.messages.reply(actor, root.message_id, { content: 'of the other node' })
    await ada.messages.remove(root.message_id)
    await ada.messages.postRoot(id, { content: 'why?', role: 'assistant' })
    await innerState(service).answers.idle()
    await Promise.all([service, node].map(({ chat }) => innerState(chat).host.afterEvents.idle()))
    const log = await innerState(service).db.all<{ seq: number; type: string }>(
      sql`SELECT seq, type FROM events WHERE conversation_id = ${id} ORDER BY seq`,
    )
    const theirs = elsewhere.filter((event) => event.conversation_id === id)
    expect(theirs).toMatchObject([{ type: 'message.new', payload: { message: { content: 'of the other node' } } }])
    const ours = events.filter((event) => event.conversation_id === id)
    const short = ({ seq, type }: { seq?: number | undefined; type: string }) => ({ seq, type })
    expect(ours.map(short)).toEqual(log.filter(({ seq }) => seq !== theirs[0]!.seq).map(short))
    expect(ours.map((event) => event.type)).toContain('message.done')
  })

  it('do not delay a post by an afterEvent that is slow or fails', async () => {
    const slow = await startService(await openUrl(), {
      ports: {
        hooks: {
          afterEvent: (event) => (event.type === 'membership.changed' ? NEVER : Promise.reject(new Error('no'))),
        },
      },
    })
    const person = await slow.signIn('ada')
    const { conversation_id: id } = await person.conversations.create()
    await person.messages.postRoot(id, { content: 'hello' })
    await innerState(slow).host.afterEvents.idle()
    await slow.close()
  })

  it('say over HTTP what is refused, as a problem', async () => {
    verdict = () => ({ refuse: 'Please be polite.' })
    const response = await service.chat.keys.create(actor, { name: 'bot' }).then(({ key }) =>
      fetch(`${service.base_url}/api/threads/${conversation_id}/root`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"content":"rude"}',
      }),
    )
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ code: 'forbidden', detail: 'Please be polite.' })
  })
})
