import { expect, it, onTestFinished } from 'vitest'
import type { AnswerPiece } from '../../lib/assistant/provider.ts'
import { sql } from '../../lib/storage/sql.ts'
import { bytesFor, PNG, startWithFiles, upload } from '../chat/attachments/files.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, innerState, times } from '../support/service.ts'

const text = (value: string) => new TextEncoder().encode(value)
const CHART: AnswerPiece = { file: { name: 'chart.png', bytes: PNG }, provider_data: { id: 'f1' } }

describeOnEachDatabase('a file of an assistant', (openUrl) => {
  async function start(attachments: object = {}) {
    const puppet = createPuppet()
    const service = await startWithFiles(await openUrl(), {
      ports: { assistant: puppet.assistant },
      config: { attachments },
    })
    onTestFinished(() => service.close())
    const [ada, grace, eve] = [await service.signIn('ada'), await service.signIn('grace'), await service.signIn('eve')]
    const { conversation_id } = await ada.conversations.create({ title: 'Charts' })
    await ada.participants.add(conversation_id, { user_id: grace.id })

    async function ask(parent?: string) {
      const question = { content: 'Draw it', role: 'assistant' as const }
      const { message_id } = parent
        ? await ada.messages.reply(parent, question)
        : await ada.messages.postRoot(conversation_id, question)
      return { message_id, asked: await puppet.asked() }
    }

    async function answer(parent: string | undefined, ...pieces: AnswerPiece[]) {
      const { message_id, asked } = await ask(parent)
      asked.say(...pieces)
      asked.end()
      await service.idle()
      return { message: await grace.messages.get(message_id) }
    }
    return { service, ada, grace, eve, conversation_id, ask, answer }
  }

  it('is an attachment of the answer and a part of it, for all its readers and the next answer', async () => {
    const { service, ada, grace, eve, ask, answer } = await start()
    const { message } = await answer(undefined, 'Look:', CHART, { file: { name: 'data.csv', bytes: text('a,b') } })
    const [chart, data] = message.attachments!
    expect(message).toMatchObject({ status: 'complete', content: 'Look:' })
    expect(message.attachments).toMatchObject([
      { name: 'chart.png', type: 'image/png', size: PNG.length, generated: true, status: 'ready' },
      { name: 'data.csv', type: 'application/octet-stream', size: 3, generated: true },
    ])
    expect(message.parts!.slice(1)).toEqual([
      { id: 1, type: 'file', attachment_id: chart!.id, name: 'chart.png', media_type: 'image/png', size: PNG.length },
      { id: 2, type: 'file', attachment_id: data!.id, name: 'data.csv', media_type: data!.type, size: 3 },
    ])
    expect((await grace.attachments.get(chart!.id)).attachment).toMatchObject({ generated: true, uploaded_by: ada.id })
    expect((await (await bytesFor(service, grace)).read(`/api/attachments/${chart!.id}/content`)).status).toBe(200)
    expect(await codeOf(eve.attachments.get(chart!.id))).toBe('not_found')

    const { asked } = await ask(message.id)
    const { request } = asked
    const turn = request.turns.find(({ role }) => role === 'assistant')!
    expect(turn.attachments).toMatchObject([{ id: chart!.id }, { id: data!.id }])
    expect(turn.parts).toMatchObject([{}, { type: 'file', provider_data: { id: 'f1' } }, { type: 'file' }])
    const bytes: Uint8Array[] = []
    for await (const piece of request.open(chart!.id)) bytes.push(piece)
    expect(Buffer.concat(bytes).equals(PNG)).toBe(true)
    asked.say('Yes')
    asked.end()
    await service.idle()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is deleted with the answer, and is alone enough for one', async () => {
    const { ada, grace, answer } = await start()
    const { message } = await answer(undefined, CHART)
    expect(message).toMatchObject({ status: 'complete', content: '' })
    const { id } = message.attachments![0]!
    await ada.messages.remove(message.id)
    expect(await codeOf(grace.attachments.get(id))).toBe('not_found')
    expect(await grace.messages.get(message.id)).not.toHaveProperty('attachments')
  })

  it.each<[string, object, AnswerPiece[]]>([
    ['one without bytes', {}, [{ file: { name: 'a.txt', bytes: text('') } }]],
    ['a path', {}, [{ file: { name: '../a.txt', bytes: text('a') } }]],
    ['bytes that are none', {}, [{ file: { name: 'a.txt', bytes: 'a' as never } }]],
    ['more than an upload may have', { max_bytes: 4 }, [{ file: { name: 'a.txt', bytes: text('12345') } }]],
    ['a type that users may not upload', { types: ['image/png'] }, [{ file: { name: 'a.txt', bytes: text('a') } }]],
    ['more than the user has room for', { per_user_bytes: 4 }, [{ file: { name: 'a.txt', bytes: text('12345') } }]],
    ['where there are none', { enabled: false }, [{ file: { name: 'a.txt', bytes: text('a') } }]],
  ])('fails the answer with %s', async (_, attachments, pieces) => {
    const { service, answer } = await start(attachments)
    const { message } = await answer(undefined, 'So.', ...pieces, 'Never read')
    expect(message).toMatchObject({ status: 'failed', content: 'So.' })
    expect(message).not.toHaveProperty('attachments')
    const { db } = innerState(service)
    expect(await db.get(sql`SELECT failure FROM messages WHERE id = ${message.id}`)).toEqual({
      failure: 'invalid_answer',
    })
    expect(await db.all(sql`SELECT id FROM attachments`)).toEqual([])
  })

  it('is one of at most ten', async () => {
    const { answer } = await start()
    const files = times(11, (n): AnswerPiece => ({ file: { name: `${n}.txt`, bytes: text(`${n}`) } }))
    const { message } = await answer(undefined, ...files)
    expect(message).toMatchObject({ status: 'failed' })
    expect(message.attachments).toHaveLength(10)
  })

  it('is not one that a user adds by an edit', async () => {
    const { service, ada, conversation_id, answer } = await start()
    const { message } = await answer(undefined, 'So.', CHART)
    const own = await upload(ada, await bytesFor(service, ada), conversation_id, { content: PNG })
    const attachment_ids = [message.attachments![0]!.id, own]
    await ada.messages.edit(message.id, { content: 'So.', attachment_ids })
    const edited = await ada.messages.get(message.id)
    expect(edited.attachments!.map(({ generated }) => generated)).toEqual([true, undefined])
  })
})
