import { render } from 'preact'
import './style.css'

render(<h1>Chat</h1>, document.getElementById('app')!)
