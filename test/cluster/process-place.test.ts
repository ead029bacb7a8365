import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { hasEnded, ownPlace, toPlace } from '../../lib/cluster/process-place.ts'

const own = ownPlace('')
/** The id of a process that has ended. */
const ended = spawnSync(process.execPath, ['--version']).pid

it.each([
  ['itself', {}, false],
  ['one that has ended', { pid: ended }, true],
  ['one that has ended, of another instance', { pid: ended, instance: 'b' }, true],
  ['a container of its host name and instance', { pids: 'another namespace' }, true],
  ['a container of another instance', { pids: 'another namespace', instance: 'b' }, false],
  ['one of another machine', { pids: 'another start', machine: 'another' }, false],
  ['one of another machine, whose id is free here', { pids: 'another start', machine: 'another', pid: ended }, false],
])('decides for %s', (_, place, has) => {
  expect(hasEnded({ ...own, ...place }, own)).toBe(has)
})

it.skipIf(own.began === '')('takes a later process of the same id for another one', () => {
  expect(hasEnded({ ...own, began: '1' }, own)).toBe(true)
})

it('takes a running process for one, and no longer when it was killed', async () => {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000); console.log()'])
  await once(child.stdout, 'data')
  const place = { ...own, pid: child.pid!, began: '' }
  expect(hasEnded(place, own)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(hasEnded(place, own)).toBe(true)
})

it('reads what it writes, and nothing else', () => {
  expect(toPlace(JSON.stringify(own))).toEqual(own)
  for (const text of ['', '{}', 'null', '{"pid":0}', '{"pid":-1}', '{"pid":"1"}', '[]'])
    expect(toPlace(text)).toBe(undefined)
})
