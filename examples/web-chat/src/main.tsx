// The web chat: a page on the client and the store of chat-server. `.ci/build-web.mjs` bundles it into the package.
import { render } from 'preact'
import { readConfig } from './app/config.ts'
import { createStart } from './app/start.ts'
import { applyTheme } from './app/theme.ts'
import { registerWorker } from './app/worker.ts'
import { loadMarkdown } from './markdown/lazy.tsx'
import { Root } from './root.tsx'
import { loadTexts } from './texts/texts.ts'
import './styles/all.css'

const config = readConfig()
applyTheme()
loadMarkdown()
const start = createStart(config)
await loadTexts()
render(<Root start={start} brand={config.brand} />, document.getElementById('app')!)
void registerWorker()
