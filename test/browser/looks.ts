import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { MediaOptions, Page } from '../support/browser.ts'

/** The sizes in which every screen is looked at: a laptop and the smallest phone. */
const SIZES = { laptop: { width: 1280, height: 800 }, phone: { width: 320, height: 640 } }

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A fault that axe has found. */
interface Fault {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * Looks at a screen in each size: axe finds no fault, nothing is wider than the window, a pane or a dialog, and an open dialog is
 * in view. With `WEB_SHOTS=<folder>` it
 * leaves a picture of each.
 */
export async function look(page: Page, name: string): Promise<void> {
  for (const [size, viewport] of Object.entries(SIZES)) await inspect(page, name, size, viewport)
  await page.setViewportSize(SIZES.laptop)
}

/** What users set, and what their windows then are: a laptop at 200 % is as wide as a phone that lies on its side. */
const MODES: [name: string, MediaOptions, viewport: { width: number; height: number }][] = [
  ['dark-zoomed', { colorScheme: 'dark', contrast: null }, { width: 640, height: 400 }],
  ['dark-contrast-phone', { colorScheme: 'dark', contrast: 'more' }, SIZES.phone],
  ['light-contrast-zoomed', { colorScheme: 'light', contrast: 'more' }, { width: 640, height: 400 }],
]

/** The same in the dark, in high contrast, and at 200 % zoom. */
export async function lookInModes(page: Page, name: string): Promise<void> {
  for (const [mode, media, viewport] of MODES) {
    await page.emulateMedia(media)
    await inspect(page, name, mode, viewport)
  }
  await page.emulateMedia({ colorScheme: null, contrast: null })
  await page.setViewportSize(SIZES.laptop)
}

async function inspect(
  page: Page,
  name: string,
  size: string,
  viewport: { width: number; height: number },
): Promise<void> {
  await page.setViewportSize(viewport)
  if (process.env.WEB_SHOTS) await page.screenshot({ path: join(process.env.WEB_SHOTS, `${name}-${size}.png`) })
  // Half a megabyte, once for each document.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const { violations, width, wide, unseen } = (await page.evaluate(
    `(async () => ({
        violations: (await axe.run(document, { resultTypes: ['violations'] })).violations,
        unseen: [...document.querySelectorAll('dialog[open]')].filter((each) => each.clientWidth === 0).length,
        width: document.documentElement.scrollWidth,
        wide: [...document.querySelectorAll('dialog, .pane')].filter((each) => each.scrollWidth > each.clientWidth).length,
      }))()`,
  )) as { violations: Fault[]; width: number; wide: number; unseen: number }
  const faults = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
  )
  expect({ name, size, faults, width, wide, unseen }).toEqual({
    name,
    size,
    faults: [],
    width: viewport.width,
    wide: 0,
    unseen: 0,
  })
}
