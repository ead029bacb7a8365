import { expect, it } from 'vitest'
import type { MeterEntry } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, startThread } from '../../support/service.ts'

const PRICES = {
  assistant: { provider: 'echo', model: 'tiny' },
  prices: [{ model: 'tiny', input: 0, output: 1_000_000 }],
}

describeOnEachDatabase('the meter of a host', (openUrl) => {
  it('takes what each answer has used, again if it fails', { timeout: 60_000 }, async () => {
    const url = await openUrl()
    const taken: MeterEntry[] = []
    let failures = 1
    const meter = (entry: MeterEntry) => {
      taken.push(entry)
      if (failures-- > 0) throw new Error('The bank is closed.')
    }
    const service = await startService(url, { config: PRICES, ports: { meter } })
    try {
      const { ada, conversation_id } = await startThread(service)
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
      await expect.poll(() => taken.length, { timeout: 30_000 }).toBe(2)
      await service.idle()
      expect(taken[1]).toEqual(taken[0])
      const { completion_tokens } = taken[0]!
      expect(completion_tokens).toBeGreaterThan(0)
      expect(taken[0]).toEqual({
        ...{ message_id, conversation_id, user_id: ada.id, kind: 'answer', assistant: 'assistant', model: 'tiny' },
        ...{ at: expect.any(String), steps: 1, prompt_tokens: expect.any(Number), completion_tokens },
        ...{ cached_tokens: 0, reasoning_tokens: 0, cost_micros: completion_tokens, currency: 'USD' },
      })
      expect(await innerState(service).db.all(sql`SELECT id FROM tasks WHERE kind = 'usage.meter'`)).toEqual([])
    } finally {
      await service.close()
    }
  })

  it('waits for a process that has it', { timeout: 60_000 }, async () => {
    const url = await openUrl()
    const first = await startService(url, { config: PRICES, ports: { meter: () => new Promise(() => {}) } })
    const { ada, conversation_id } = await startThread(first)
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    await expect.poll(async () => (await ada.messages.get(message_id)).status).toBe('complete')
    await first.close()
    const taken: string[] = []
    const ports = { meter: (entry: MeterEntry) => void taken.push(entry.message_id) }
    const second = await startService(url, { config: PRICES, ports })
    await expect.poll(() => taken, { timeout: 30_000 }).toEqual([message_id])
    await second.close()
  })
})
