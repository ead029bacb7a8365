import { expect, it } from 'vitest'
import { defineTool, toolResult } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, times } from '../../support/service.ts'
import { ANY, askIn, call, type ScriptedOptions, useServices } from './world.ts'

describeOnEachDatabase('an answer that calls tools, and comes to its limits', (openUrl) => {
  const { start } = useServices(openUrl)

  it('keeps no more parts of results than an answer may have', async () => {
    const big = defineTool({
      description: 'Returns much',
      input: ANY,
      run: () => toolResult({ output: 1, parts: times(40, () => ({ data: { name: 'd', data: 'x'.repeat(60_000) } })) }),
    })
    const { service } = await start({
      tools: { big },
      script: ({ step }) => (step === 1 ? times(4, (n) => call('big', { n })) : ['Well.']),
    })
    const { untilEnded, message_id } = await askIn(service)
    await untilEnded()
    const row = await innerState(service).db.get<{ bytes: number }>(
      sql`SELECT sum(octet_length(part)) AS bytes FROM message_chunks WHERE message_id = ${message_id}`,
    )
    expect(Number(row!.bytes)).toBeLessThan(1.1 * 1024 * 1024)
  })

  it('has as many parts as an answer may have, and goes on, when several results come at once', async () => {
    const many = defineTool({
      description: 'Returns many parts',
      input: ANY,
      run: () => toolResult({ output: 1, parts: times(64, (n) => ({ source: { url: `https://example.org/${n}` } })) }),
    })
    const { service } = await start({
      tools: { many },
      script: ({ step }) => (step === 1 ? times(4, (n) => call('many', { n })) : ['Well.']),
    })
    const { untilEnded } = await askIn(service)
    const { status, content, parts } = await untilEnded()
    expect({ status, content }).toEqual({ status: 'complete', content: 'Well.' })
    expect(parts!.filter(({ type }) => type !== 'text')).toHaveLength(256)
  })

  const source = (n: number) => ({ source: { url: `https://example.org/${n}` } })
  it.each([
    ['parts', times(255, source), 2, 255],
    ['a part of the next step', times(255, source), 1, 255],
    ['rows of their results', times(990, (n) => ({ data: { name: 'd', key: 'k', data: n } })), 3, 1],
  ])('fails before it stores or runs calls without room: for %s', async (_, pieces, count, kept) => {
    let runs = 0
    const tool = defineTool({ description: 'Counts', input: ANY, run: () => ++runs })
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    const script: ScriptedOptions['script'] = () => [...pieces, ...times(count, (n) => call('tool', n)), { usage }]
    const { service } = await start({ tools: { tool }, script })
    const { read, untilEnded, calls } = await askIn(service)
    expect(await untilEnded()).toMatchObject({ status: 'failed', failure: 'answer_too_long', usage })
    expect(await calls()).toEqual([])
    expect((await read()).parts).toHaveLength(kept)
    expect(runs).toBe(0)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('ends well with calls for which it has just enough room, one of which waits', async () => {
    const approval = { by: 'asker' as const }
    const few = times(248, source)
    const rows = times(736, (n) => ({ data: { name: 'd', key: 'k', data: n } }))
    const tool = defineTool({
      description: 'Has parts',
      input: ANY,
      run: () => toolResult({ output: 1, parts: [source(1)] }),
    })
    const pay = defineTool({
      description: 'Pays',
      input: ANY,
      approval,
      run: () => toolResult({ output: 2, parts: few }),
    })
    const calls = [call('tool', 1), call('tool', 2), call('pay', 3)]
    const { service } = await start({
      tools: { tool, pay },
      script: ({ step }) => (step === 1 ? [...few, ...rows, ...calls] : ['Well.']),
    })
    const { ada, untilWaiting, untilEnded } = await askIn(service)
    await untilWaiting()
    const [{ call_id }] = (await ada.approvals.list({ mine: true })).approvals as unknown as [{ call_id: string }]
    await ada.approvals.decide(call_id, { approve: true })
    const { status, content, parts } = await untilEnded()
    expect({ status, content }).toEqual({ status: 'complete', content: 'Well.' })
    expect(parts!.flatMap((part) => (part.type === 'tool' ? part.state : []))).toEqual(['done', 'done', 'done'])
  })
})
