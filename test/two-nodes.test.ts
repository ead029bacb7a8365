import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, startsService, TWO_NODES } from './parts.ts'
import { ONE_PROCESS } from './support/one-process.ts'

describe('npm run test:nodes', () => {
  it.each(Object.entries(TWO_NODES))('finds a file for each pattern of %s', (_, patterns) => {
    expect(patterns.filter((pattern) => !files.some((file) => matchesGlob(file, pattern)))).toEqual([])
  })

  it('has reasons only for files that start a service', () => {
    const patterns = Object.keys(ONE_PROCESS.files)
    const isUsed = (pattern: string) => files.some((file) => matchesGlob(file, pattern) && startsService(file))
    expect(patterns.filter((pattern) => !isUsed(pattern))).toEqual([])
  })

  it.each(Object.entries(ONE_PROCESS.tests))('leaves out tests of %s that exist', (file, reasons) => {
    const text = readFileSync(file, 'utf8')
    const names = Object.keys(reasons).flatMap((part) => part.split(' > ').filter((name) => !name.startsWith('(')))
    expect(names.filter((name) => !text.includes(name))).toEqual([])
  })
})
