import { expect, it, onTestFinished } from 'vitest'
import type { AssistantRequest } from '../../../lib/assistant/provider.ts'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startModelServer } from '../../support/model-server.ts'
import { codeOf, innerState } from '../../support/service.ts'
import { bytesFor, bytesOf, memoryFiles, PNG, startWithFiles, upload } from './files.ts'

describeOnEachDatabase('the assistant', (openUrl) => {
  it('gets the names of the files of a thread', async () => {
    let turns: unknown
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant(request) {
          turns = request.turns
          yield 'I see'
        },
      },
    })
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const id = await upload(ada, await bytesFor(service, ada), conversation_id, { name: 'plan.png', content: PNG })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [id] })
    await ada.messages.reply(message_id, { content: 'What is it?', role: 'assistant' })
    await service.idle()
    expect(turns).toEqual([
      {
        role: 'user',
        content: '',
        user_id: ada.id,
        attachments: [{ id, name: 'plan.png', type: 'image/png', size: PNG.length }],
      },
      { role: 'user', content: 'What is it?', user_id: ada.id },
    ])
    await service.close()
  })

  it('gets the files of a question with it, also when it is asked again or edited', async () => {
    const asked: AssistantRequest['turns'][] = []
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant({ turns }) {
          asked.push(turns)
          yield 'I see'
          yield { file: { name: 'made.txt', bytes: new TextEncoder().encode('made') } }
        },
      },
    })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const bytes = await bytesFor(service, ada)
    const add = (name: string) => upload(ada, bytes, conversation_id, { name, content: PNG })
    const [id, other] = [await add('plan.png'), await add('other.png')]
    const ask = async (input: object) => {
      const more = { content: 'What is it?', role: 'assistant' as const, ...input }
      const { message_id } = await ada.messages.postRoot(conversation_id, more)
      await service.idle()
      return message_id
    }
    const file = (fileId: string, name: string) => ({ id: fileId, name, type: 'image/png', size: PNG.length })
    const question = (content: string, ...attachments: object[]) => {
      return { role: 'user', content, user_id: ada.id, attachments }
    }
    const first = await ask({ attachment_ids: [id] })
    expect(asked.at(-1)).toEqual([question('What is it?', file(id, 'plan.png'))])
    expect((await ada.messages.get(first)).attachments).toMatchObject([{ id }, { name: 'made.txt', generated: true }])
    // The answer has what the assistant has made, its question the other file.
    await ada.messages.reply(first, { content: 'And?', role: 'assistant' })
    await service.idle()
    expect(asked.at(-1)).toMatchObject([
      question('What is it?', file(id, 'plan.png')),
      { role: 'assistant', content: 'I see', attachments: [{ name: 'made.txt' }] },
      { role: 'user', content: 'And?' },
    ])
    expect(asked.at(-1)![2]).not.toHaveProperty('attachments')

    const filesOf = async (messageId: string) =>
      ((await ada.messages.get(messageId)).attachments ?? []).filter(({ generated }) => !generated)
    const ownFile = async (messageId: string, ...names: string[]) => {
      const files = await filesOf(messageId)
      expect(files.map(({ name }) => name)).toEqual(names)
      return files.map((each) => file(each.id, each.name))
    }
    const second = await ask({ variant_of: first })
    const [copy] = await ownFile(second, 'plan.png')
    expect(copy!.id).not.toBe(id)
    expect(asked.at(-1)).toEqual([question('What is it?', copy!)])
    const edited = await ask({ content: 'Is it this?', variant_of: first, attachment_ids: [other] })
    expect(asked.at(-1)).toEqual([question('Is it this?', file(other, 'other.png'))])
    const repeated = await ask({ content: 'Is it this?', variant_of: first })
    expect(asked.at(-1)).toEqual([question('Is it this?', ...(await ownFile(repeated, 'other.png')))])
    const another = await ask({ content: 'What else?', variant_of: first })
    expect(asked.at(-1)).toEqual([question('What else?', ...(await ownFile(another, 'plan.png')))])

    // Exactly those that are sent, in their order: some of earlier answers, and a new one.
    const third = await add('third.png')
    const both = await ask({ content: 'All?', variant_of: edited, attachment_ids: [third, id] })
    expect(asked.at(-1)).toEqual([question('All?', ...(await ownFile(both, 'third.png', 'plan.png')))])
    const fewer = await ask({ content: 'All?', variant_of: both, attachment_ids: [third] })
    expect(asked.at(-1)).toEqual([question('All?', ...(await ownFile(fewer, 'third.png')))])
    const none = await ask({ content: 'All?', variant_of: both, attachment_ids: [] })
    expect(asked.at(-1)).toEqual([{ role: 'user', content: 'All?', user_id: ada.id }])
    const stillNone = await ask({ content: 'All?', variant_of: none })
    expect([await filesOf(none), await filesOf(stillNone)]).toEqual([[], []])
    const page = await ada.threads.tree(second)
    expect(page.messages[0]!.attachments).toMatchObject([{ id: copy!.id }, { name: 'made.txt' }])
    // That of an answer is no file of a question elsewhere.
    const elsewhere = { content: 'And?', role: 'assistant' as const, attachment_ids: [copy!.id] }
    expect(await codeOf(ada.messages.postRoot(conversation_id, elsewhere))).toBe('not_found')

    // What one answer loses, the others keep, also for a client that knows it of the deleted one.
    await ada.messages.remove(first, {})
    const state = innerState(service.chat)
    const later = Object.create(state, { now: { value: () => state.now() + 31 * 86_400_000_000 } })
    await sweepFiles(later, { after: '' })
    expect((await bytes.read(`/api/attachments/${id}/content`)).status).toBe(404)
    expect(Buffer.from(await (await bytes.read(`/api/attachments/${copy!.id}/content`)).arrayBuffer())).toEqual(PNG)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await ask({ variant_of: second })
    expect(asked.at(-1)).toMatchObject([question('What is it?', { name: 'plan.png' })])
  })

  it('gets the files of a question that is a message of its own once, also where they are sent again', async () => {
    const asked: AssistantRequest['turns'][] = []
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant({ turns }) {
          asked.push(turns)
          yield 'I see'
        },
      },
    })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const id = await upload(ada, await bytesFor(service, ada), conversation_id, { name: 'plan.png', content: PNG })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Look', attachment_ids: [id] })
    const question = { content: 'What is it?', role: 'assistant' as const }
    const answer = await ada.messages.reply(message_id, question)
    await service.idle()
    const again = { ...question, variant_of: answer.message_id, attachment_ids: [id] }
    const { message } = await ada.messages.reply(message_id, again)
    await service.idle()
    expect(message.attachments).toBeUndefined()
    expect(asked[1]).toEqual(asked[0])
    expect(asked[1]).toMatchObject([{ attachments: [{ id }] }, { content: 'What is it?' }])
  })

  it('may make as many files as a message has, whatever its question has', async () => {
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant() {
          for (let n = 0; n < 10; n++) yield { file: { name: `${n}.txt`, bytes: new TextEncoder().encode(`${n}`) } }
        },
      },
    })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const id = await upload(ada, await bytesFor(service, ada), conversation_id, { name: 'plan.png', content: PNG })
    const question = { content: 'More?', role: 'assistant' as const, attachment_ids: [id] }
    const { message_id } = await ada.messages.postRoot(conversation_id, question)
    await service.idle()
    const { status, attachments } = await ada.messages.get(message_id)
    expect(status).toBe('complete')
    expect(attachments!.map(({ generated = false }) => generated)).toEqual([false, ...Array(10).fill(true)])
  })

  it('reads the files of the thread with the rights of the user who asked, and no others', async () => {
    const reads: Record<string, unknown> = {}
    let ask: ((request: AssistantRequest) => Promise<void>) | undefined
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant(request) {
          await ask!(request)
          yield 'I see'
        },
      },
    })
    onTestFinished(() => service.close())
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const [shown, deleted, elsewhere] = [
      await upload(ada, bytes, conversation_id, { content: PNG }),
      await upload(ada, bytes, conversation_id, { content: bytesOf(10, 'deleted') }),
      await upload(ada, bytes, conversation_id, { content: bytesOf(10, 'elsewhere') }),
    ]
    await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [elsewhere] })
    const root = await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [shown] })
    const below = await ada.messages.reply(root.message_id, { content: '', attachment_ids: [deleted] })
    ask = async ({ turns, open }) => {
      const read = async (id: string) => {
        const pieces: Uint8Array[] = []
        for await (const piece of open(id)) pieces.push(piece)
        return Buffer.concat(pieces).equals(PNG)
      }
      reads.ids = turns.flatMap(({ attachments = [] }) => attachments.map(({ id }) => id))
      reads.shown = await read(shown)
      await ada.messages.remove(below.message_id)
      reads.deleted = await codeOf(read(deleted))
      reads.elsewhere = await codeOf(read(elsewhere))
      await ada.participants.remove(conversation_id, grace.id)
      reads.left = await codeOf(read(shown))
    }
    await grace.messages.reply(below.message_id, { content: 'What is it?', role: 'assistant' })
    await Promise.all(service.nodes.map((node) => node.idle()))
    expect(reads).toEqual({
      ids: [shown, deleted],
      shown: true,
      deleted: 'not_found',
      elsewhere: 'not_found',
      left: 'not_found',
    })
  })

  it('of openai gets the newest pictures, within a number and a size, and fails if they cannot be read', async () => {
    const model = await startModelServer()
    const files = memoryFiles()
    const assistant = { provider: 'openai', base_url: model.url, model: 'tiny', images: true }
    const service = await startWithFiles(await openUrl(), {
      config: { assistant },
      wrap: (storage) => ({ ...storage, files }),
    })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    const picture = (n: number, size = 0) => Buffer.concat([PNG, Buffer.from([n]), Buffer.alloc(size)])
    const add = (content: Buffer, name = 'a.png') =>
      upload(ada, bytes, conversation_id, { content, name, type: 'image/png' })
    const first = await Promise.all([1, 2, 3].map((n) => add(picture(n))))
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Look', attachment_ids: first })
    const second = await Promise.all([4, 5, 6, 7, 8, 9].map((n) => add(picture(n))))
    const others = [await add(Buffer.from('<svg/>'), 'fake.png'), await add(picture(10, 9 * 1024 * 1024), 'large.png')]
    const below = await ada.messages.reply(message_id, { content: '', attachment_ids: [...others, ...second] })
    const ask = () => ada.messages.reply(below.message_id, { content: 'What is it?', role: 'assistant' })
    await ask()
    const contents = (await model.nextCall()).request.messages.map(({ content }) => content) as unknown[]
    const url = (n: number) => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${picture(n).toString('base64')}` },
    })
    expect(contents[0]).toEqual([
      { type: 'text', text: expect.stringMatching(/^Look\n\[File: a\.png/) },
      url(1),
      url(2),
    ])
    expect(contents[1]).toEqual([
      { type: 'text', text: expect.stringContaining('large.png') },
      ...[4, 5, 6, 7, 8, 9].map(url),
    ])
    expect(contents[2]).toBe('What is it?')

    await service.idle()
    files.getItemRaw = () => Promise.reject(new Error('unplugged'))
    const failed = await ask()
    await service.idle()
    expect((await ada.messages.get(failed.message_id)).status).toBe('failed')
    expect(model.calls).toHaveLength(1)
  })
})
