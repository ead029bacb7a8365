import { expect, it } from 'vitest'
import { createKeyedMutex } from '../../../lib/core/scheduling/keyed-mutex.ts'
import { promised } from '../../storage/handles.ts'
import { codeOf, times } from '../../support/service.ts'

it('runs the works of a key one after another, also after one that fails, and those of other keys meanwhile', async () => {
  const inLine = createKeyedMutex({ each: 10 })
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
  const inLine = createKeyedMutex({ each: 3 })
  const end = promised()
  const works = times(4, () => inLine('a', () => end.promise))
  expect(await codeOf(inLine('a', async () => {}))).toBe('unavailable')
  expect(await inLine('b', async () => 'b')).toBe('b')
  end.resolve()
  await Promise.all(works)
  expect(await inLine('a', async () => 'a')).toBe('a')
})

it('refuses what would wait beyond the sum, though each key has less than its share, and runs the first work of any key', async () => {
  const inLine = createKeyedMutex({ each: 3, all: 5 })
  const end = promised()
  // Of each key one runs and two wait: the last one is beyond the sum.
  const works = ['a', 'b', 'c'].flatMap((key) => times(3, () => inLine(key, () => end.promise)))
  expect(await codeOf(works.pop()!)).toBe('unavailable')
  expect(await codeOf(inLine('a', async () => {}))).toBe('unavailable')
  expect(await inLine('d', async () => 'd')).toBe('d')
  end.resolve()
  await Promise.all(works)
  const again = times(4, () => inLine('a', async () => 'a'))
  expect(await Promise.all(again)).toEqual(['a', 'a', 'a', 'a'])
})
