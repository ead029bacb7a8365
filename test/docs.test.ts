import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './support/example.ts'
import { listPages, textOf } from './support/pages.ts'

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

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
