import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './support/example.ts'
import { filesBelow, listPages, textOf } from './support/pages.ts'

it('no link of the documentation is broken', () => {
  const links = listPages().flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(([, path, anchor]) => {
      const target = path ? join(dirname(page), path) : page
      const leads = existsSync(join(ROOT, target)) && (!anchor || anchorsOf(textOf(target)).includes(anchor))
      return { page, link: `${path}${anchor ? `#${anchor}` : ''}`, leads }
    }),
  )
  expect(links.filter(({ leads }) => !leads)).toEqual([])
  expect(links.length).toBeGreaterThan(20)
})

it('no page but the reference and the changelog has more than 1,500 words', () => {
  const pages = listPages().filter((page) => !/reference\/|changelog/.test(page))
  const words = pages.map((page) => ({ page, count: textOf(page).split(/\s+/).filter(Boolean).length }))
  expect(words.filter(({ count }) => count > 1500)).toEqual([])
})

it('every page is in the index of the documentation', () => {
  const index = textOf('docs/README.md')
  const pages = listPages().filter((page) => page.startsWith('docs/') && !/\/decisions\/|docs\/README/.test(page))
  expect(pages.filter((page) => !index.includes(`](${page.slice('docs/'.length)}`))).toEqual([])
})

it('a page for contributors names no file of the code that does not exist', () => {
  const pages = listPages().filter((page) => /contributing|decisions/.test(page))
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(/`((?:lib|cli|test)\/[\w./-]+\.tsx?)`/g)].map(([, path]) => ({ page, path: path! })),
  )
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([])
  expect(named.length).toBeGreaterThan(10)
})

it('the map of the architecture has every folder of the library', () => {
  const [, map] = /^```\nlib\/(.*?)^```/ms.exec(textOf('docs/contributing/architecture.md'))!
  const folders = filesBelow('lib').filter((path) => statSync(join(ROOT, path)).isDirectory())
  expect(folders.filter((path) => !map!.includes(` ${basename(path)}/`))).toEqual([])
  expect(folders.length).toBeGreaterThan(20)
})

it('the index of the decisions has the question and the answer of each', () => {
  const index = textOf('docs/decisions/README.md')
  const pages = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => name !== 'README.md')
  const missing = pages.filter((name) => {
    const [, question, answer] = /^# \d+\. (.*\?)\n\n\*\*(.*)\*\*\n/.exec(textOf(`docs/decisions/${name}`)) ?? []
    return !question || !index.includes(`[${question}](${name}) ${answer}\n`)
  })
  expect(missing).toEqual([])
})

it('every relative link leads to a file of the packed archive', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  const packed = [...files.filter((each) => !each.startsWith('!')), 'README.md', 'LICENSE', 'package.json']
  const outside = listPages().flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#]+)(?:#[^)]*)?\)/g)].flatMap(([, path]) => {
      const target = join(dirname(page), path!).replace(/\/$/, '')
      return packed.some((each) => target === each || target.startsWith(`${each}/`)) ? [] : [`${page}: ${path}`]
    }),
  )
  expect(outside).toEqual([])
})

it('the pages of frameworks show their examples as they are, all of them', () => {
  const pages = listPages().filter((path) => /embedding\/frameworks/.test(path))
  const shown = pages.flatMap((page) => [...textOf(page).matchAll(/^```tsx?\n(.*?)^```/gms)].map(([, code]) => code!))
  const single = readdirSync(join(ROOT, 'examples/frameworks')).map((name) => `examples/frameworks/${name}`)
  const files = [...single, ...['next', 'nitro'].flatMap((folder) => filesBelow(`examples/${folder}`))]
  // The pages of Next that have nothing of the chat are left out.
  const examples = files.filter(
    (path) =>
      /(?<!\.test|\.d)\.tsx?$/.test(path) && !/node_modules|\.next|\.output|next\/app\/(layout|page)\.tsx/.test(path),
  )
  const withoutHead = (path: string) => textOf(path).replace(/^(\/\/.*\n)+\n?/, '')
  expect([...shown].sort()).toEqual(examples.map(withoutHead).sort())
})

it('the page of ten minutes shows its example as it is', () => {
  const shown = [...textOf('docs/embedding/ten-minutes.md').matchAll(/^```jsx?\n(.*?)^```/gms)].map(([, code]) => code!)
  const files = ['server.js', 'page.jsx'].map((name) => textOf(`examples/ten-minutes/${name}`))
  expect(shown).toEqual(files.map((text) => text.replace(/^(\/\/.*\n)+\n?/, '')))
})

it('no example and no page signs with a secret that everyone can read', () => {
  const files = [...filesBelow('examples'), ...listPages()].filter(
    (path) => /\.([jt]sx?|mjs|md)$/.test(path) && !/node_modules|\.next|\.output|\.test\./.test(path),
  )
  // `secret: 'text'`, `SECRET = process.env.X ?? 'text'`, and the password of a sealed cookie, of 32 characters.
  const signed = /\bsecret\b *[:=] *([\w.]+ *(\?\?|\|\|) *)?['"`]|\bpassword: ['"`][^'"`]{32,}/i
  expect(files.filter((path) => signed.test(textOf(path)))).toEqual([])
  expect(signed.test("const SECRET = process.env.SECRET ?? 'a secret'")).toBe(true)
})

it('nothing that git ignores, no data and no secret goes into the build of an image', () => {
  const linesOf = (name: string) => readFileSync(join(ROOT, name), 'utf8').split('\n')
  const excluded = linesOf('.dockerignore')
  const ignored = linesOf('.gitignore').flatMap((line) => (line ? line.replace(/\/$/, '') : []))
  for (const name of [...ignored, '*.db', '*.db-*', '*.db.*', 'chat-server.toml'])
    expect(
      excluded.some((line) => line.replace('**/', '') === name),
      name,
    ).toBe(true)
})

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
