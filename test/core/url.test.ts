import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseUrl } from '../../lib/core/url.ts'

it.each([
  ['https://bänk.example/ü', 'https://xn--bnk-qla.example/%C3%BC'],
  ['https://中国.example', 'https://xn--fiqs8s.example/'],
  ['mailto:ada@one.example', 'mailto:ada@one.example'],
  ['https://', undefined],
  ['/a', undefined],
  ['', undefined],
])('%j is the URL %j, however often it is asked', (text, href) => {
  for (let count = 0; count < 20_000; count++)
    if (parseUrl(text)?.href !== href) expect(count).toBe('the same each time')
})

it('is used instead of URL.canParse', () => {
  const root = new URL('../../', import.meta.url)
  const using = ['lib/', 'cli/', 'examples/web-chat/src/'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter(
        (path) => /\.tsx?$/.test(path) && /\bURL\.canParse\(/.test(readFileSync(new URL(folder + path, root), 'utf8')),
      )
      .map((path) => folder + path),
  )
  expect(using).toEqual([])
})
