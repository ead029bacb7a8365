/** A file of the page as it was built: `br` is base64 of its content, compressed by Brotli. */
export interface BuiltFile {
  type: string
  br: string
}

/** The page as it was built. */
export interface BuiltPage {
  /** Its HTML, with `{{base}}`, `{{name}}` and `"{{config}}"` where those belong. */
  html: string
  /** The HTML of the page of the API, likewise. */
  docs: string
  /** The other files by path; a name with a hash in it never gets another content. */
  files: Readonly<Record<string, BuiltFile>>
}

/** @throws Error where it was not built */
export async function loadPage(): Promise<BuiltPage> {
  if (!(await isBuilt())) throw new Error('The web chat was not built: run npm ci && npm run build in the clone.')
  return (await built()).PAGE
}

/** Whether it was built. */
export async function isBuilt(): Promise<boolean> {
  try {
    await built()
    return true
  } catch (error) {
    if (MISSING.test(String((error as { code?: string }).code))) return false
    throw error
  }
}

const MISSING = /^ERR_(MODULE_NOT_FOUND|PACKAGE_IMPORT_NOT_DEFINED)$/

// A module and not files, so that a host can bundle it. The build writes it: see `imports` of package.json.
function built(): Promise<{ PAGE: BuiltPage }> {
  return import(/* @vite-ignore */ '#web-page')
}
