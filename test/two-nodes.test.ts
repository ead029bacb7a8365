import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ONE_PROCESS } from './support/one-process.ts'

it.each(Object.entries(ONE_PROCESS.tests))('the tests of %s that run with one node only exist', (file, reasons) => {
  const text = readFileSync(file, 'utf8')
  const names = Object.keys(reasons).flatMap((part) => part.split(' > ').filter((name) => !name.startsWith('(')))
  expect(names.filter((name) => !text.includes(name))).toEqual([])
})
