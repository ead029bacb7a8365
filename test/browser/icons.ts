import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from '../support/browser.ts'

const FOLDER = fileURLToPath(new URL('../../examples/web-chat/', import.meta.url))

/** Draws `icon.svg` as the PNG that systems need which show no SVG; a maskable one fills the square, since the system cuts it. */
export async function drawIcons(browser: Browser): Promise<void> {
  const svg = await readFile(`${FOLDER}icon.svg`, 'utf8')
  await draw(browser, svg, 192, 'icon-192.png')
  await draw(browser, svg, 512, 'icon-512.png')
  await draw(browser, svg.replace(' rx="112"', ''), 512, 'icon-maskable.png')
}

async function draw(browser: Browser, svg: string, size: number, name: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: size, height: size } })
  const page = (await context.newPage()) as Page & { screenshot(options: object): Promise<Buffer> }
  const sized = svg.replace('<svg ', `<svg width="${size}" height="${size}" `)
  await page.goto(
    `data:text/html,${encodeURIComponent(`<style>body { margin: 0 } svg { display: block }</style>${sized}`)}`,
  )
  await writeFile(`${FOLDER}${name}`, await page.screenshot({ omitBackground: true }))
  await page.close()
}
