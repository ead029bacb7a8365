import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from '../support/browser.ts'

/** A picture in the folder, and how wide it is. */
export interface Picture {
  file: string
  kind: string
  width: number
}

/** How wide all pictures of a row are together. */
const ROW = 1_800
const PER_SHEET = { wide: 4, narrow: 10 }

/** Makes sheets with several pictures of one kind each, under their names. */
export async function makeSheets(browser: Browser, folder: string, pictures: readonly Picture[]): Promise<void> {
  const context = await browser.newContext({ viewport: { width: ROW, height: 1_000 } })
  const page = await context.newPage()
  for (const kind of new Set(pictures.map((picture) => picture.kind))) {
    const all = pictures.filter((picture) => picture.kind === kind)
    const isWide = all[0]!.width > 600
    const size = isWide ? PER_SHEET.wide : PER_SHEET.narrow
    for (let from = 0; from < all.length; from += size) {
      const name = `sheet-${kind}-${String(from / size + 1).padStart(2, '0')}`
      const figures = all
        .slice(from, from + size)
        .map(
          ({ file }) =>
            `<figure><figcaption>${file}</figcaption><img src="${file}" width="${isWide ? 890 : 350}"></figure>`,
        )
      const html = `<meta charset="utf-8"><style>body{margin:0;display:flex;flex-wrap:wrap;gap:8px;background:#888;font:12px sans-serif}figure{margin:0}</style>${figures.join('')}`
      const path = resolve(folder, `${name}.html`)
      await writeFile(path, html)
      await page.goto(pathToFileURL(path).href)
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    }
  }
}
