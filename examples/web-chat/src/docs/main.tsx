// The API in the browser: a page from the OpenAPI document of the service. `.ci/build-web.mjs` bundles it into the package.
import { createChatClient } from 'chat-server/client'
import { render } from 'preact'
import { readConfig } from '../app/config.ts'
import { docsTexts } from '../texts/settings.ts'
import { loadTexts } from '../texts/texts.ts'
import { Docs } from './page.tsx'
import '../styles/base.css'
import '../styles/controls.css'
import '../styles/docs.css'
import type { OpenApi } from './types.ts'

const { api, brand } = readConfig()
const root = document.getElementById('app')!
// What the HTML of the page shows until now.
root.replaceChildren()
await loadTexts()
document.title = docsTexts.value.title(brand.name)

/** Reads what the service is, and who is signed in: that may fail, and the description can be read nevertheless. */
async function open(): Promise<void> {
  const client = createChatClient({ base_url: api })
  render(
    <p class="starting" role="status">
      {docsTexts.value.loading}
    </p>,
    root,
  )
  try {
    const [document, features, user] = await Promise.all([
      readDocument(),
      client.capabilities.get(),
      client.auth.me().then(
        ({ user }) => user.display_name || user.username,
        () => undefined,
      ),
    ])
    render(<Docs document={document} brand={brand} base={api} csrf={features.csrf} user={user} />, root)
  } catch {
    render(
      <div class="starting">
        <div role="alert">
          <p>{docsTexts.value.failed}</p>
          <button type="button" onClick={() => void open()}>
            {docsTexts.value.retry}
          </button>
        </div>
      </div>,
      root,
    )
  }
}

async function readDocument(): Promise<OpenApi> {
  const response = await fetch(`${api}/openapi.json`)
  if (!response.ok) throw new Error(`The description is not there: ${response.status}`)
  return (await response.json()) as OpenApi
}

void open()
