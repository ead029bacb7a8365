import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import { DAY } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, type TestService, times } from '../../support/service.ts'
import { type Bytes, bytesFor, bytesOf, PART, PNG, startWithFiles, upload } from './files.ts'

describeOnEachDatabase('the files of messages', (openUrl) => {
  let service: TestService & { folder: string }
  let ada: Person
  let grace: Person
  let ofAda: Bytes
  let ofGrace: Bytes
  let place: string
  let clock = Date.now() * 1000

  beforeAll(async () => {
    service = await startWithFiles(await openUrl(), {
      ports: { now: () => clock },
      config: { session: { idle_seconds: 30_000_000, absolute_seconds: 30_000_000 } },
    })
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    ;[ofAda, ofGrace] = [await bytesFor(service, ada), await bytesFor(service, grace)]
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
    await ada.participants.add(place, { user_id: grace.id })
  })
  afterAll(() => service.close())

  const sweep = () => sweepFiles(innerState(service), { after: '' })
  const isKept = async (id: string) => {
    const row = await innerState(service).db.get<{ blob_id: string }>(
      sql`SELECT blob_id FROM attachments WHERE id = ${id}`,
    )
    return row?.blob_id ?? ''
  }
  const folders = () => readdir(service.folder)
  const post = (id: string, content = '') => ada.messages.postRoot(place, { content, attachment_ids: [id] })
  const statusOf = async (bytes: Bytes, id: string) => (await bytes.read(`/api/attachments/${id}/content`)).status

  it('are in every read and event of the message', async () => {
    const { stream_position } = await ada.conversations.get(place)
    const id = await upload(ada, ofAda, place, { name: 'ä 😀.png', content: PNG })
    const { message, message_id } = await post(id)
    const expected = [
      expect.objectContaining({
        id,
        name: 'ä 😀.png',
        status: 'ready',
        type: 'image/png',
        width: 3,
        height: 2,
        uploaded_by: ada.id,
      }),
    ]
    expect(message.attachments).toEqual(expected)
    expect((await grace.messages.get(message_id)).attachments).toEqual(expected)
    expect((await grace.threads.tree(message_id)).messages[0]!.attachments).toEqual(expected)
    for await (const { event } of grace.events.follow(place, { last_event_id: stream_position! }))
      if (event.type === 'message.new') {
        expect(event.payload.message.attachments).toEqual(expected)
        break
      }
    expect(await statusOf(ofGrace, id)).toBe(200)
  })

  it('are counted in the summary of the thread that they begin, with a text and without one', async () => {
    const { stream_position } = await ada.conversations.get(place)
    const names = ['one.txt', 'two.txt']
    const start = async (content: string) => {
      const ids = await Promise.all(names.map((name) => upload(ada, ofAda, place, { name, content: randomBytes(9) })))
      return (await ada.messages.postRoot(place, { content, attachment_ids: ids })).message_id
    }
    const [silent, told] = [await start(''), await start('Look')]
    const summaryOf = async (id: string) =>
      (await grace.threads.list(place)).threads.find(({ root_id }) => root_id === id)
    expect(await summaryOf(silent)).toMatchObject({ root_excerpt: 'one.txt, two.txt', root_file_count: 2 })
    expect(await summaryOf(told)).toMatchObject({ root_excerpt: 'Look', root_file_count: 2 })
    const counts: unknown[] = []
    for await (const { event } of grace.events.follow(place, { last_event_id: stream_position! })) {
      if (event.type !== 'thread.new') continue
      counts.push(event.payload.summary.root_file_count)
      if (event.payload.root_id === told) break
    }
    expect(counts).toEqual([2, 2])
    await ada.messages.edit(told, { content: 'Look', attachment_ids: [] })
    expect(await summaryOf(told)).not.toHaveProperty('root_file_count')
    await ada.messages.remove(silent)
    expect(await summaryOf(silent)).toEqual(expect.objectContaining({ root_excerpt: '' }))
    expect(await summaryOf(silent)).not.toHaveProperty('root_file_count')
  })

  it('are given to one message only, also when two posts ask at the same time', async () => {
    const id = await upload(ada, ofAda, place)
    const outcomes = await Promise.allSettled(times(4, () => post(id)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await codeOf(post(id))).toBe('not_found')
  })

  it('are attached once by a post that is repeated', async () => {
    const id = await upload(ada, ofAda, place)
    const actor = await service.chat.users.actor(ada.id)
    const input = { content: 'once', attachment_ids: [id], idempotency_key: 'one-post' }
    const first = await service.chat.messages.postRoot(actor, place, input)
    const again = await service.chat.messages.postRoot(actor, place, input)
    expect(again.message_id).toBe(first.message_id)
    expect(again.message.attachments).toEqual(first.message.attachments)
    const other = { ...input, attachment_ids: [] }
    expect(await codeOf(service.chat.messages.postRoot(actor, place, other))).toBe('idempotency_mismatch')
  })

  it('must be ready, of the conversation, and named once', async () => {
    const other = (await ada.conversations.create({ title: 'Other' })).conversation_id
    const elsewhere = await upload(ada, ofAda, other)
    expect(await codeOf(post(elsewhere))).toBe('not_found')
    const { attachment } = await ada.attachments.create(place, { name: 'slow', size: 10 })
    expect(await codeOf(post(attachment.id))).toBe('attachment_not_ready')
    const id = await upload(ada, ofAda, place)
    const ids = [...times(11, () => innerState(service).id())]
    expect(await codeOf(ada.messages.postRoot(place, { content: 'x', attachment_ids: [id, id] }))).toBe(
      'validation_failed',
    )
    expect(await codeOf(ada.messages.postRoot(place, { content: 'x', attachment_ids: ids }))).toBe('validation_failed')
    expect(await codeOf(ada.messages.postRoot(place, { content: '' }))).toBe('validation_failed')
    expect(await codeOf(ada.messages.postRoot(place, { content: '\u200b', attachment_ids: [id] }))).toBe(
      'validation_failed',
    )
    // Files alone ask nothing.
    const question = { content: '', role: 'assistant' as const, attachment_ids: [id] }
    expect(await codeOf(ada.messages.postRoot(place, question))).toBe('validation_failed')
    const talk = (await ada.conversations.create({ title: 'Talk', layout: 'assistant' })).conversation_id
    const own = await upload(ada, ofAda, talk)
    expect(await codeOf(ada.messages.postRoot(talk, { content: '', attachment_ids: [own] }))).toBe('validation_failed')
  })

  it('are those of a question, and go with its answer', async () => {
    const id = await upload(ada, ofAda, place, { content: randomBytes(100) })
    const question = { content: 'What is it?', role: 'assistant' as const, attachment_ids: [id] }
    const { message_id, message } = await ada.messages.postRoot(place, question)
    expect(message).toMatchObject({ role: 'assistant', prompt: 'What is it?', attachments: [{ id }] })
    expect(message.attachments![0]).not.toHaveProperty('generated')
    await service.idle()
    expect((await grace.messages.get(message_id)).attachments).toMatchObject([{ id }])
    expect(await statusOf(ofGrace, id)).toBe(200)
    await ada.messages.remove(message_id)
    expect(await statusOf(ofGrace, id)).toBe(404)
    await ada.messages.restore(message_id)
    expect(await statusOf(ofGrace, id)).toBe(200)
    const taken = { content: 'And?', role: 'assistant' as const, attachment_ids: [id] }
    expect(await codeOf(ada.messages.postRoot(place, taken))).toBe('not_found')
  })

  it('are replaced by an edit that has a list, and stay with one that has none', async () => {
    const [one, two, three] = [
      await upload(ada, ofAda, place, { content: bytesOf(10, '1') }),
      await upload(ada, ofAda, place, { content: bytesOf(10, '2') }),
      await upload(ada, ofAda, place, { content: bytesOf(10, '3') }),
    ]
    const { message_id } = await ada.messages.postRoot(place, { content: 'x', attachment_ids: [one, two] })
    const idsOf = async () => (await ada.messages.get(message_id)).attachments?.map(({ id }) => id)
    await ada.messages.edit(message_id, { content: '' })
    expect(await idsOf()).toEqual([one, two])
    await ada.messages.edit(message_id, { content: '', attachment_ids: [three, one] })
    expect(await idsOf()).toEqual([three, one])
    expect(await statusOf(ofAda, two)).toBe(404)
    expect(await codeOf(ada.messages.edit(message_id, { content: '', attachment_ids: [] }))).toBe('validation_failed')
    await ada.messages.edit(message_id, { content: 'text', attachment_ids: [] })
    expect(await idsOf()).toBeUndefined()
  })

  it('cannot be read once the message is deleted, come back with it, and are gone after some days', async () => {
    const id = await upload(ada, ofAda, place, { content: randomBytes(100) })
    const { message_id } = await post(id)
    const blob = await isKept(id)
    await ada.messages.remove(message_id)
    expect((await grace.messages.get(message_id)).attachments).toBeUndefined()
    expect([await statusOf(ofAda, id), await statusOf(ofGrace, id)]).toEqual([404, 404])
    expect((await ada.attachments.get(id)).attachment.id).toBe(id)
    expect(await codeOf(grace.attachments.get(id))).toBe('not_found')
    await ada.messages.restore(message_id)
    expect(await statusOf(ofGrace, id)).toBe(200)

    await ada.messages.remove(message_id)
    clock += 31 * DAY
    await sweep()
    await ada.messages.restore(message_id)
    const { attachments } = await grace.messages.get(message_id)
    expect(attachments).toEqual([expect.objectContaining({ id, status: 'gone' })])
    expect(await statusOf(ofAda, id)).toBe(404)
    expect(await folders()).toContain(blob)
    clock += DAY + 1
    await sweep()
    expect(await folders()).not.toContain(blob)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are stored once if they are the same, and stay while one message has them', async () => {
    const content = randomBytes(5000)
    const ids = await Promise.all([
      upload(ada, ofAda, place, { content }),
      upload(grace, ofGrace, place, { content }),
      upload(ada, ofAda, place, { content }),
    ])
    const blobs = new Set(await Promise.all(ids.map(isKept)))
    expect(blobs.size).toBe(1)
    const [first, , third] = ids as [string, string, string]
    const { message_id } = await post(first)
    await ada.attachments.remove(third)
    clock += DAY + 1
    await sweep()
    expect(await statusOf(ofAda, first)).toBe(200)
    expect(await folders()).toContain([...blobs][0])
    await ada.messages.remove(message_id)
  })

  it('are deleted when they are neither completed nor taken', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'late', size: 10 })
    const id = await upload(ada, ofAda, place, { content: randomBytes(10) })
    const blob = await isKept(id)
    clock += DAY + 1
    expect(await codeOf(ada.attachments.get(attachment.id))).toBe('not_found')
    expect((await ofAda.put(attachment.id, 1, bytesOf(10))).status).toBe(404)
    await sweep()
    expect(await codeOf(ada.attachments.get(id))).toBe('not_found')
    // No message ever had it.
    expect(await folders()).not.toContain(blob)
  })

  it('lose the bytes of an upload that its user ends at once', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: PART + 1 })
    await ofAda.put(attachment.id, 2, Buffer.from('x'))
    const blob = await isKept(attachment.id)
    expect(await folders()).toContain(blob)
    await ada.attachments.remove(attachment.id)
    await sweep()
    expect(await folders()).not.toContain(blob)
  })

  it('go with a conversation', async () => {
    const { conversation_id } = await ada.conversations.create({ title: 'Short' })
    const id = await upload(ada, ofAda, conversation_id, { content: randomBytes(10) })
    await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [id] })
    const blob = await isKept(id)
    await ada.conversations.remove(conversation_id)
    expect(await statusOf(ofAda, id)).toBe(404)
    await innerState(service).tasks.settle()
    clock += DAY + 1
    await sweep()
    expect(await folders()).not.toContain(blob)
  })

  it('are deleted with their erased author at once, and stay without a name if the messages stay', async () => {
    const [eve, tom] = [await service.signIn('eve'), await service.signIn('tom')]
    const [files, kept] = await Promise.all(
      [eve, tom].map(async (person) => {
        await ada.participants.add(place, { user_id: person.id })
        const bytes = await bytesFor(service, person)
        const id = await upload(person, bytes, place, { content: randomBytes(10) })
        const { message_id } = await person.messages.postRoot(place, { content: 'x', attachment_ids: [id] })
        const unattached = await upload(person, bytes, place, { content: randomBytes(10) })
        return { id, message_id, blobs: [await isKept(id), await isKept(unattached)] }
      }),
    )
    await ada.users.erase(eve.id, { messages: 'erase' })
    await ada.users.erase(tom.id, { messages: 'keep' })
    expect(await statusOf(ofAda, files!.id)).toBe(404)
    await innerState(service).tasks.settle()
    await sweep()
    const left = await folders()
    for (const blob of [...files!.blobs, kept!.blobs[1]]) expect(left).not.toContain(blob)
    expect(left).toContain(kept!.blobs[0])
    const { attachments } = await ada.messages.get(kept!.message_id)
    expect(attachments![0]).not.toHaveProperty('uploaded_by')
    expect((await ada.attachments.get(kept!.id)).attachment).not.toHaveProperty('uploaded_by')
    expect(await statusOf(ofAda, kept!.id)).toBe(200)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})

describeOnEachDatabase('links to files', (openUrl) => {
  const service = setUpService(async () => startWithFiles(await openUrl(), { ports: { now: () => clock } }))
  let ada: Person
  let place: string
  let clock = Date.now() * 1000
  beforeAll(async () => {
    ada = await service.signIn('ada')
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  })

  /** A participant, a file of Ada's, and a link of the participant to it. */
  async function shared(name: string) {
    const person = await service.signIn(name)
    await ada.participants.add(place, { user_id: person.id })
    const id = await upload(ada, await bytesFor(service, ada), place, { content: PNG })
    const { message_id } = await ada.messages.postRoot(place, { content: '', attachment_ids: [id] })
    const { url } = await person.attachments.link(id, { inline: true })
    const read = async () => (await fetch(service.base_url + url)).status
    return { person, message_id, url, read }
  }

  it('read a file without a session, for a while', async () => {
    const { url, read } = await shared('grace')
    const response = await fetch(service.base_url + url)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cross-origin-resource-policy': 'cross-origin',
      'content-disposition': expect.stringMatching(/^inline;/),
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true)
    const forged = `${url.slice(0, -2)}${url.endsWith('AA') ? 'BB' : 'AA'}`
    expect((await fetch(service.base_url + forged)).status).toBe(404)
    clock += 301 * 1_000_000
    expect(await read()).toBe(404)
  })

  it.each([
    ['is removed', async (person: Person) => void (await ada.participants.remove(place, person.id))],
    ['is disabled', async (person: Person) => void (await ada.users.change(person.id, { disabled: true }))],
    ['signs out', async (person: Person) => void (await person.auth.logout())],
    ['is erased', async (person: Person) => void (await ada.users.erase(person.id))],
  ])('end when the user %s', async (what, end) => {
    const { person, read } = await shared(`user-${what.split(' ').at(-1)}`)
    expect(await read()).toBe(200)
    await end(person)
    expect(await read()).toBe(404)
  })

  it('end with the message', async () => {
    const { message_id, read } = await shared('rita')
    await ada.messages.remove(message_id)
    expect(await read()).toBe(404)
  })
})
