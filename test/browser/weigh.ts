import type { BrowserContext, Page } from '../support/browser.ts'

/** Waits until an element is shown. Its handle would keep the element, and all around it, until the page is closed. */
export async function shown(page: Page, ...what: Parameters<Page['waitForSelector']>): Promise<void> {
  const handle = await page.waitForSelector(...what)
  await handle?.dispose()
}

/** What a page keeps once its garbage is collected: without that, most of a heap is what nothing refers to any longer. */
export async function weigh(context: BrowserContext, page: Page): Promise<{ heap: number; nodes: number }> {
  const session = await context.newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage', {})
  const { usedSize } = (await session.send('Runtime.getHeapUsage', {})) as { usedSize: number }
  await session.detach()
  return { heap: usedSize, nodes: (await page.evaluate('document.querySelectorAll("*").length')) as number }
}
