import fc from 'fast-check'
import { expect, it } from 'vitest'
import { getStoredJson, setStoredJson, toJson as toBytes } from '../../lib/core/stored-json.ts'

const toJson = (value: object) => Buffer.from(toBytes(value)).toString()

const LIST = '[{"emoji":"\\ud83d\\udc4d","count":1,"user_ids":["ada"]}]'

function withList(json = LIST): { id: string; list?: unknown } {
  const target: { id: string; list?: unknown } = { id: '1' }
  setStoredJson(target, 'list', json)
  return target
}

it('is sent as it is stored', () => {
  expect(toJson({ messages: [{ id: '0' }, withList()] })).toBe(`{"messages":[{"id":"0"},{"id":"1","list":${LIST}}]}`)
  expect(getStoredJson(withList(), 'list')).toBe(LIST)
  expect(getStoredJson({}, 'list')).toBeUndefined()
})

it('is a value like any other for a reader', () => {
  const list = JSON.parse(LIST)
  expect(withList()).toEqual({ id: '1', list })
  expect({ ...withList() }).toEqual({ id: '1', list })
  expect(structuredClone(withList())).toEqual({ id: '1', list })
  expect(JSON.stringify(withList())).toBe(JSON.stringify({ id: '1', list }))
  const read = withList()
  expect(read.list).toBe(read.list)
})

it('is sent as the caller has changed it', () => {
  const pushed = withList()
  ;(pushed.list as unknown[]).push('more')
  expect(JSON.parse(toJson(pushed))).toEqual({ id: '1', list: [...JSON.parse(LIST), 'more'] })
  const set = withList()
  set.list = 'other'
  expect(toJson(set)).toBe('{"id":"1","list":"other"}')
  const without = withList()
  delete without.list
  expect(toJson(without)).toBe('{"id":"1"}')
})

it('leaves all other values as JSON.stringify has them, also after a failure', () => {
  const loop: { list?: unknown; self?: unknown } = withList()
  loop.self = loop
  expect(() => toJson(loop)).toThrow(TypeError)
  expect(withList().list).toEqual(JSON.parse(LIST))
  fc.assert(
    fc.property(fc.object(), fc.array(fc.jsonValue(), { maxLength: 5 }), (value, lists) => {
      const stored = lists.map((list) => withList(JSON.stringify(list)))
      const plain = lists.map((list) => ({ id: '1', list }))
      expect(toJson({ value, stored })).toBe(JSON.stringify({ value, stored: plain }))
    }),
  )
})
