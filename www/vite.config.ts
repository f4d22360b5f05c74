import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // works below any path
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } }, // nothing inline: a strict CSP holds
  optimizeDeps: { exclude: ["promptside"] }, // its wasm file lies beside its code
  server: { fs: { allow: [".", "../pkg"] } }, // the package is a link out of this folder
});
