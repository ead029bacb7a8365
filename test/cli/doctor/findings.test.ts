import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { FINDINGS } from '../../../cli/doctor/findings.ts'

it('every finding has a line in a guide, and every line is of a finding', () => {
  const guide = ['findings', 'data']
    .map((name) => readFileSync(new URL(`../../../docs/guides/doctor-${name}.md`, import.meta.url), 'utf8'))
    .join('\n')
  const codes = Array.from(guide.matchAll(/^\| `([^`]+)`/gm), ([, code]) => code)
  expect(codes.length).toBeGreaterThan(40)
  expect(codes.sort()).toEqual([...FINDINGS].sort())
})
