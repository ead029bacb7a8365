// The web chat: a page on the client and the store of chat-server. `.ci/build-web.mjs` bundles it into the package.
import { render } from 'preact'
import { readConfig } from './app/config.ts'
import { createStart } from './app/start.ts'
import { applyTheme } from './app/theme.ts'
import { registerWorker } from './app/worker.ts'
import { forgetSuperseded } from './parts/superseded.ts'
import { Root } from './root.tsx'
import { loadTexts } from './texts/texts.ts'
import './styles/all.css'

forgetSuperseded()
const config = readConfig()
applyTheme()
const start = createStart(config)
await loadTexts()
const place = document.getElementById('app')!
// What the HTML of the page shows until now.
place.replaceChildren()
render(<Root start={start} brand={config.brand} />, place)
void registerWorker()
