import { expect, it, onTestFinished } from 'vitest'
import type { AnswerPiece, Assistant } from '../../../lib/assistant/provider.ts'
import { defineTool, type ToolPart, toolResult } from '../../../lib/index.ts'
import { PNG, startWithFiles } from '../../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { times } from '../../support/service.ts'
import { ANY, askIn, call } from './world.ts'

const png = (name: string, bytes: Uint8Array = PNG): ToolPart => ({ file: { name, bytes } })

describeOnEachDatabase('a file that a tool returns', (openUrl) => {
  /** Ada has asked, and each call of the tool has returned these files. */
  async function ended(
    files: ToolPart[],
    { calls = 1, attachments = {} }: { calls?: number; attachments?: object } = {},
  ) {
    const draw = defineTool({
      description: 'Draws',
      input: ANY,
      run: () => toolResult({ output: 'drawn', parts: files }),
    })
    const assistant: Assistant = async function* ({ step }): AsyncGenerator<AnswerPiece> {
      if (step === 1) yield* times(calls, (n) => call('draw', { n }))
      else yield 'Look.'
    }
    const service = await startWithFiles(await openUrl(), {
      ports: { assistant, tools: { draw } },
      config: { assistant: { tools: ['draw'] }, attachments },
    })
    onTestFinished(() => service.close())
    const { untilEnded, ...world } = await askIn(service)
    return { ...world, service, message: await untilEnded() }
  }

  it('is an attachment of the answer and a part of it', async () => {
    const { message, ada, service } = await ended([png('chart.png')])
    expect(message).toMatchObject({ status: 'complete', content: 'Look.' })
    expect(message.attachments).toMatchObject([{ name: 'chart.png', type: 'image/png', generated: true }])
    const { id } = message.attachments![0]!
    expect(message.parts!.slice(0, 2)).toMatchObject([
      { type: 'tool', state: 'done', output: 'drawn' },
      { type: 'file', attachment_id: id, name: 'chart.png', media_type: 'image/png', size: PNG.length },
    ])
    expect((await ada.attachments.get(id)).attachment).toMatchObject({ generated: true, uploaded_by: ada.id })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is left out if it is refused: the tool has run all the same', async () => {
    const { message } = await ended([png('large.png'), { data: { name: 'chart', data: 1 } }], {
      attachments: { max_bytes: PNG.length - 1 },
    })
    expect(message.status).toBe('complete')
    expect(message.attachments ?? []).toEqual([])
    expect(message.parts!.map(({ type }) => type)).toEqual(['tool', 'data', 'step', 'text'])
  })

  it('is left out beyond the files that a message may have, of all calls together', async () => {
    const { message, service } = await ended(
      times(4, (n) => png(`${n}.png`)),
      { calls: 3 },
    )
    expect(message.status).toBe('complete')
    expect(message.attachments).toHaveLength(10)
    const shown = message.parts!.flatMap((part) => (part.type === 'file' ? part.attachment_id : []))
    expect(shown.sort()).toEqual(message.attachments!.map(({ id }) => id).sort())
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
