import { expect, it } from 'vitest'
import { createLines } from '../../lib/core/lines.ts'
import { promised } from '../storage/handles.ts'
import { codeOf, times } from '../support/service.ts'

it('runs the works of a key one after another, also after one that fails, and those of other keys meanwhile', async () => {
  const inLine = createLines(10)
  const log: string[] = []
  const first = promised()
  const failing = inLine('a', async () => {
    log.push('a1')
    await first.promise
    throw new Error('refused')
  })
  const second = inLine('a', async () => void log.push('a2'))
  await inLine('b', async () => void log.push('b1'))
  expect(log).toEqual(['a1', 'b1'])
  first.resolve()
  await expect(failing).rejects.toThrow('refused')
  await second
  expect(log).toEqual(['a1', 'b1', 'a2'])
})

it('refuses a work of a key that has too many, and takes the next one when they have ended', async () => {
  const inLine = createLines(3)
  const end = promised()
  const works = times(4, () => inLine('a', () => end.promise))
  expect(await codeOf(inLine('a', async () => {}))).toBe('unavailable')
  expect(await inLine('b', async () => 'b')).toBe('b')
  end.resolve()
  await Promise.all(works)
  expect(await inLine('a', async () => 'a')).toBe('a')
})
