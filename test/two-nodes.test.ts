import { readdirSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TWO_NODES } from './parts.ts'
import { ONE_PROCESS } from './support/one-process.ts'

/** A call that starts a service on a database that another process can open, too. */
const START = /\b(startService|startWithFiles|startTalk)\((?!'sqlite::memory:')/
const IMPORT = /\b(startService|startWithFiles|startTalk)\b[^']*from '[^']*\/(service|files|talks)\.ts'/

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => `test/${name}`)
const matchesOne = (file: string, patterns: string[]) => patterns.some((pattern) => matchesGlob(file, pattern))

describe('npm run test:nodes', () => {
  it('runs every test file that starts a service, or has a reason not to', () => {
    const patterns = [...TWO_NODES['two-nodes-all']!, ...Object.keys(ONE_PROCESS.files)]
    expect(files.filter((file) => startsService(file) && !matchesOne(file, patterns))).toEqual([])
  })

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

function startsService(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  return START.test(text) && IMPORT.test(text)
}
