import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'

/** The parts of playwright-core that are used; the package is optional. */
type Playwright = Record<
  'chromium' | 'firefox',
  {
    launch(options: object): Promise<Browser>
    launchPersistentContext(folder: string, options: object): Promise<BrowserContext>
  }
>

/** A real browser; each context belongs to another user. */
export interface Browser {
  newContext(options?: ContextOptions): Promise<BrowserContext>
  isConnected(): boolean
  close(): Promise<void>
}

/** What differs between the devices of users. */
export interface ContextOptions {
  viewport?: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
  locale?: string
  hasTouch?: boolean
  /** Whether it is a phone, where a finger is all there is to point with. */
  isMobile?: boolean
  /** What the user has allowed, such as `notifications`. */
  permissions?: string[]
}

export interface BrowserContext {
  /** Speaks to the browser by its own protocol: for fingers that do more than to tap. */
  newCDPSession(
    page: Page,
  ): Promise<{ send(method: string, params: object): Promise<unknown>; detach(): Promise<void> }>
  newPage(): Promise<Page>
  /** Cuts the connection, or restores it. */
  setOffline(isOffline: boolean): Promise<void>
  cookies(): Promise<{ name: string; value: string; domain: string }[]>
  /** How long its pages wait for anything. */
  setDefaultTimeout(ms: number): void
  close(): Promise<void>
}

/** Preferences of a user. */
export interface MediaOptions {
  colorScheme?: 'light' | 'dark' | null
  contrast?: 'more' | null
  forcedColors?: 'active' | null
}

/** A request of a page, on its way. */
export interface Route {
  request(): { headers(): Record<string, string> }
  /** Lets it go on as it is. */
  continue(): Promise<void>
  /** Sends it. @returns the response, which the page has not got yet */
  fetch(): Promise<unknown>
  /** Breaks the connection off. */
  abort(reason: 'connectionreset'): Promise<void>
  /** Responds in place of the service. */
  fulfill(response: {
    status?: number
    headers?: Record<string, string>
    contentType: string
    body: string
  }): Promise<void>
}

/** A file as a user would choose it. */
interface BrowserFile {
  name: string
  mimeType: string
  buffer: Buffer
}

export interface Page {
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  /** Runs a script in each document, before its own ones. */
  addInitScript(script: string): Promise<unknown>
  /** Runs a script in the page. @returns its result */
  evaluate(script: string): Promise<unknown>
  click(selector: string): Promise<void>
  /** Touches an element, where `hasTouch` is. */
  tap(selector: string): Promise<void>
  hover(selector: string): Promise<void>
  fill(selector: string, text: string): Promise<void>
  /** Chooses files in a field, which may be hidden. */
  setInputFiles(selector: string, files: BrowserFile[]): Promise<void>
  /** Waits until the page has the user choose files. */
  waitForEvent(name: 'filechooser'): Promise<{ setFiles(files: BrowserFile[]): Promise<void> }>
  /** Waits until the page has the browser save a file. */
  waitForEvent(name: 'download'): Promise<{ suggestedFilename(): string; path(): Promise<string | null> }>
  /** Chooses an option of a `select` by its value, or by its label. */
  selectOption(selector: string, value: string | { label: string }): Promise<unknown>
  /** Presses a key, such as `Enter` or `Shift+Tab`, in an element. */
  press(selector: string, key: string): Promise<void>
  inputValue(selector: string): Promise<string>
  title(): Promise<string>
  close(): Promise<void>
  url(): string
  setViewportSize(size: { width: number; height: number }): Promise<void>
  /** What the system of the user asks pages for; `null` is the default. */
  emulateMedia(options: MediaOptions): Promise<void>
  screenshot(options: { path?: string; fullPage?: boolean }): Promise<unknown>
  mouse: { wheel(x: number, y: number): Promise<void>; move(x: number, y: number): Promise<void> }
  /** The keys, for what has the focus, or nothing. */
  keyboard: { type(text: string): Promise<void>; press(key: string): Promise<void> }
  /** Sets the clock of the page, which stands still then; timers run on. */
  clock: { setFixedTime(time: number): Promise<void> }
  waitForSelector(
    selector: string,
    options?: { state: 'attached' | 'detached' | 'visible' | 'hidden'; timeout?: number },
  ): Promise<{ dispose(): Promise<void> } | null>
  locator(selector: string): { allTextContents(): Promise<string[]> }
  /** Handles the requests of the page to addresses that match, until `unrouteAll`. */
  route(pattern: RegExp, handle: (route: Route) => Promise<void>): Promise<unknown>
  /** @param options whether to wait for the end of the handlers in progress */
  unrouteAll(options: { behavior: 'wait' | 'ignoreErrors' }): Promise<void>
  on(event: 'pageerror', listener: (error: Error) => void): void
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void
}

/** The browser of a run: Chromium, or the stock Firefox of the system with `TEST_BROWSER=firefox`. */
const ENGINE = process.env.TEST_BROWSER === 'firefox' ? 'firefox' : 'chromium'
const PROGRAMS = { chromium: ['chromium', 'chromium-browser', 'google-chrome'], firefox: ['firefox-esr', 'firefox'] }

const executablePath = PROGRAMS[ENGINE]
  .flatMap((name) => (process.env.PATH ?? '').split(':').map((folder) => join(folder, name)))
  .find((path) => existsSync(path))
const playwright = await loadPlaywright()

/** Whether a browser is installed. Without one, the tests that need it are reported as skipped. */
export const hasBrowser = playwright !== undefined && executablePath !== undefined
if (!hasBrowser) console.log(`Browser test skipped: ${executablePath ? 'playwright-core' : ENGINE} not found`)

/** A host of this machine that is no `localhost` to the browser: without HTTPS, pages of it have less. */
export const PLAIN_HOST = 'chat.test'

const OPTIONS = {
  chromium: {
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
    ],
  },
  // By WebDriver BiDi: the protocol of playwright's own needs a build of its own.
  firefox: {
    channel: 'moz-firefox',
    firefoxUserPrefs: { 'network.dns.localDomains': PLAIN_HOST, 'ui.useOverlayScrollbars': 1 },
  },
}

/** Starts a browser, which the caller closes. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await playwright![ENGINE].launch({ executablePath, ...OPTIONS[ENGINE] })
  if (ENGINE === 'firefox') leaveMedia(browser)
  return browser
}

/** A command that playwright-core sends for each context, and that Firefox has not had for long. */
const SET_MEDIA = 'emulation.setMediaFeaturesOverride'

/** Leaves out what a Firefox of today may not have: its pages get the colors and motions of the system. */
function leaveMedia(browser: object): void {
  const { _connection: connection } = browser as { _connection: { toImpl(of: object): { _browserSession: object } } }
  const session = Object.getPrototypeOf(connection.toImpl(browser)._browserSession)
  const { send } = session
  session.send = function (method: string, params: object) {
    return method === SET_MEDIA ? Promise.resolve({}) : send.call(this, method, params)
  }
}

/** However slow the machine is: a test of speed measures by itself. */
const PATIENT_MS = 60_000

let shared: Promise<Browser> | undefined

/** The browser of this process: to start one takes as long as many a test. It ends with the process. */
async function sharedBrowser(): Promise<Browser> {
  if (!(await shared)?.isConnected()) shared = launchInFolder()
  return shared!
}

/** Its files are in the folder of the run: at the end of the process, it has no time to remove them. */
async function launchInFolder(): Promise<Browser> {
  const { TMPDIR } = process.env
  process.env.TMPDIR = inject('folder')
  try {
    return await launchBrowser()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

/** A browser for the current test, at whose end its contexts are closed. */
export async function openBrowser(): Promise<Pick<Browser, 'newContext'>> {
  const browser = await sharedBrowser()
  return {
    async newContext(options) {
      const context = await browser.newContext(options)
      onTestFinished(() => context.close())
      context.setDefaultTimeout(PATIENT_MS)
      return context
    },
  }
}

/** A browser that sends cookies to other sites wherever `SameSite` allows it: not all browsers do by default. */
export async function openLaxBrowser(): Promise<BrowserContext> {
  // Firefox does.
  if (ENGINE === 'firefox') return (await openBrowser()).newContext()
  const folder = await mkdtemp(join(tmpdir(), 'chat-browser-'))
  await mkdir(join(folder, 'Default'))
  const preferences = { profile: { cookie_controls_mode: 0, block_third_party_cookies: false } }
  await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify(preferences))
  const context = await playwright!.chromium.launchPersistentContext(folder, { executablePath, ...OPTIONS.chromium })
  context.setDefaultTimeout(PATIENT_MS)
  onTestFinished(async () => {
    await context.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return context
}

async function loadPlaywright(): Promise<Playwright | undefined> {
  const name = 'playwright-core'
  return import(name).catch(() => undefined)
}
