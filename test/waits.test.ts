import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'
import { nodesOf, type SourceNode } from './support/sources.ts'

const TESTS = ['test', 'examples'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`),
)

/** Whether options name a time: `interval` alone leaves the default. A constant does in the file that has it. */
const sayHowLong = (options: SourceNode | undefined): boolean =>
  options !== undefined && (options.type !== 'ObjectExpression' || hasTimeout(options.properties as SourceNode[]))

const hasTimeout = (properties: SourceNode[]) =>
  properties.some(({ key }) => (key as { name?: string } | undefined)?.name === 'timeout')

/** The lines of calls of `vi.waitFor` and `vi.waitUntil` that name no time. */
function linesOfHurry(source: string, lang: 'ts' | 'tsx' = 'ts'): number[] {
  if (!/\bvi\.wait(For|Until)\b/.test(source)) return []
  return [...nodesOf(parseAst(source, { lang }))].flatMap((node) => {
    if (node.type !== 'CallExpression' || sayHowLong((node.arguments as SourceNode[])[1])) return []
    const { start, end } = node.callee as SourceNode
    return /^vi\.wait(For|Until)$/.test(source.slice(start, end)) ? source.slice(0, start).split('\n').length : []
  })
}

describe('a test that waits', () => {
  it('says how long, as the default of vitest is a second: a test of speed', () => {
    const found = TESTS.flatMap((file) =>
      linesOfHurry(readFileSync(file, 'utf8'), file.endsWith('x') ? 'tsx' : 'ts').map((line) => `${file}:${line}`),
    )
    expect(found).toEqual([])
  })

  it('is found where it does not, also where it says only how often to look', () => {
    expect(linesOfHurry('vi.waitFor(one, { interval: 10 })\nvi.waitUntil(two, {})')).toEqual([1, 2])
    expect(linesOfHurry('vi.waitFor(one, { interval: 10, timeout: 30_000 })\nvi.waitUntil(two, 10_000)')).toEqual([])
    expect(linesOfHurry('await vi.waitFor(() => one(1, 2))\nvi.waitUntil(\n  two,\n)')).toEqual([1, 2])
    expect(linesOfHurry('await vi.waitFor(one, PATIENT)\nwaitFor(two)\nrow.waitForAll(vi.waitFor)')).toEqual([])
  })
})
