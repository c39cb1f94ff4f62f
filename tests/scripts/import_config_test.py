#!/usr/bin/env python3
"""import-config: what a configuration of the older systems becomes, that every key is used or reported, and what is refused."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

MODEL = {
    "name": "Net", "build_dlls": True, "evaluate": False, "load": "local", "url": "zoo.net", "model": "zoo.net", "alias": "net.onnx",
    "type": "library", "library": "torch", "layers": {"input": [1, 3, 8, 8]}, "paths": {"dll_models_out_relative": "/made/", "exec_out_relative": "/x/"},
    "dll_libraries": [
        {"library": "tf", "load": "local", "dependency": "net.pb", "model": "net.pb", "input_name": "in"},
        {"library": "tf_to_tflite", "load": "local", "dependency": "net.pb", "model": "net.pb"},
        {"library": "keras", "load": "library", "dependency": "applications.net", "model": "n"},
        {"library": "noop_keras", "load": "local", "dependency": "no.h5", "model": "no.h5"}]}
CONFIG = {
    "backend": "tvm", "runs_no": 1, "preprocessing_enabled": True, "models": [MODEL, {"name": "Off", "skip_analysis": True, "secret": 1}],
    "devices": {"id": 0, "selected": "gpu", "gpu": {"host_type": "remote", "target": "opencl", "target_framework": "opencl", "address": "a", "port": 1},
                "other": {"target": "cuda"}},
    "selected_dataset": 1, "datasets": [{"title": "a", "dataset_path_relative": "/few"}, {"title": "b", "dataset_path_relative": "/many"}],
    "required_pass": None, "disabled_pass": ["OpFusion", "FastMath", "Unheard"], "opt_level": 3, "quantize": False, "colour": {"deep": [1, {"er": 2}]}}


class ImportConfig(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_on(self, config, *options):
        text = config if isinstance(config, str) else json.dumps(config)
        (self.folder / "config.json").write_text(text)
        return subprocess.run([sys.executable, SCRIPTS / "import-config", "--root", "old", *options, self.folder / "config.json"],
                              capture_output=True, text=True, check=False)

    def matrix(self, config):
        done = self.run_on(config)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split(" = ", 1) for line in done.stdout.splitlines() if not line.startswith("#")), done.stderr

    def test_a_configuration_becomes_a_matrix(self):
        values, said = self.matrix(CONFIG)
        self.assertEqual(values, {
            "MODELS": "old/made/net.pb", "FORMATS": "tflite", "CONVERT": "old/made/net.pb", "DEVICES": "tcp://a:1/opencl:0", "OPTS": "3",
            "COMPILE_FLAGS": "--pass=-fuse-ops,-fast-math", "INPUT": "old/many"})
        self.assertIn("start dnn-serve --tcp 0.0.0.0:1 --key FILE", said)
        self.assertIn("no pass is like 'Unheard'", said)
        self.assertIn("no preprocessing is like the old one's", said)
        self.assertIn("left out models[1] (Off): skip_analysis", said)
        self.assertIn("zoo.net is code of torch", said)

    def test_quantize_is_a_precision(self):
        values, said = self.matrix({**CONFIG, "quantize": True})
        self.assertEqual(values["PRECISIONS"], "int8")
        self.assertNotIn("quantize", said)

    def test_every_key_is_used_or_reported(self):
        said = self.matrix(CONFIG)[1]
        for place in ("models[0].layers.input = [1, 3, 8, 8]: the model's file says it", "models[0].paths.exec_out_relative",
                      "models[0].dll_libraries[0].input_name", "devices.id",
                      "devices.other.target", "datasets[0].title", "datasets[0].dataset_path_relative", "datasets[1].title",
                      "colour.deep[0] = 1: nothing here is like it", "colour.deep[1].er = 2"):
            self.assertIn(f"ignored {place}", said)
        for used in ("backend", "opt_level", "models[0].alias", "devices.gpu.target", "disabled_pass", "secret"):
            self.assertNotIn(f"ignored {used} ", said)

    def test_native_libraries_are_devices(self):
        values, said = self.matrix({**CONFIG, "backend": "native", "runs_no": 3})
        self.assertEqual(values["DEVICES"], "lib:tensorflow lib:tflite")
        self.assertNotIn("COMPILE_FLAGS", values)
        self.assertTrue(values.get("RUNS") == "3" or "has no RUNS" in said)

    def test_a_repair_is_a_localisation(self):
        values, _ = self.matrix({"model_repair_config": {"source_rel_path": "/m/a.onnx", "target_rel_path": "/m/b.onnx", "settings": {"time_limit": 1}}})
        self.assertEqual((values["MODELS"], values["LOCALIZE"]), ("old/m/a.onnx old/m/b.onnx", "old/m/a.onnx:old/m/b.onnx"))

    def test_devices_elsewhere(self):
        def devices(**changes):
            device = {**CONFIG["devices"]["gpu"], **changes}
            values, said = self.matrix({**CONFIG, "devices": {"selected": "gpu", "gpu": device}})
            return values.get("DEVICES"), said
        self.assertEqual(devices(address="board.lan", port=9090)[0], "tcp://board.lan:9090/opencl:0")
        self.assertIn("left out DEVICES 'tcp://[fe80::1]:9090/opencl:0'", devices(address="fe80::1", port=9090)[1])
        self.assertEqual(devices(host_type="local")[0], "opencl:0")
        for wrong in ({"address": None}, {"port": 0}, {"port": "1"}, {"port": True}):
            name, said = devices(**wrong)
            self.assertEqual(name, "opencl:0")
            self.assertIn("says no address and port", said)

    def test_a_scenario_of_kenning_is_a_matrix(self):
        # Kenning 0.8.2's own, scripts/jsonconfigs/mobilenetv2-tensorflow-tvm-avx-int8.json and tflite-tvm-classification-client-server.json.
        pets = {"model_wrapper": {"type": "kenning.modelwrappers.classification.tensorflow_pet_dataset.TensorFlowPetDatasetMobileNetV2",
                                  "parameters": {"model_name": "tvm-avx2-int8",
                                                 "model_path": "kenning:///models/classification/tensorflow_pet_dataset_mobilenetv2.h5"}},
                "dataset": {"type": "kenning.datasets.pet_dataset.PetDataset", "parameters": {"dataset_root": "./build/PetDataset"}},
                "optimizers": [{"type": "kenning.optimizers.tflite.TFLiteCompiler",
                                "parameters": {"target": "int8", "compiled_model_path": "./build/int8.tflite", "inference_input_type": "int8"}},
                               {"type": "kenning.optimizers.tvm.TVMCompiler",
                                "parameters": {"target": "llvm -mcpu=core-avx2", "opt_level": 3, "conv2d_data_layout": "NCHW",
                                               "location": "target"}}],
                "runtime": {"type": "kenning.runtimes.tvm.TVMRuntime", "parameters": {"save_model_path": "./build/int8_tvm.tar"}}}
        values, said = self.matrix(pets)
        model = "old/tensorflow_pet_dataset_mobilenetv2.h5"
        self.assertEqual(values, {"MODELS": model, "FORMATS": "tflite", "CONVERT": model, "DEVICES": "cpu", "OPTS": "3",
                                  "INPUT": "old/build/PetDataset", "PRECISIONS": "int8"})
        self.assertIn("fetch https://dl.antmicro.com/kenning/models/classification/tensorflow_pet_dataset_mobilenetv2.h5", said)
        self.assertIn("PREPROCESS must say", said)
        self.assertIn("optimizers[1] (TVMCompiler) ran at the target", said)
        self.assertIn("ignored optimizers[1].parameters.conv2d_data_layout", said)
        self.assertIn("ignored runtime.parameters.save_model_path", said)
        for protocol, devices in (({"type": "NetworkProtocol"}, "kenning://localhost:12345"),
                                  ({"type": "kenning.protocols.network.NetworkProtocol", "parameters": {"host": "board", "port": 7}}, "kenning://board:7"),
                                  ({"type": "UARTProtocol", "parameters": {"port": "/dev/ttyS0"}}, "cpu")):
            values = self.matrix({**pets, "protocol": protocol})[0]
            self.assertEqual((values["DEVICES"], values.get("CONVERTED_DEVICES", "cpu")), ("cpu", devices))
            values = self.matrix({**pets, "protocol": protocol, "optimizers": []})[0]
            self.assertEqual((values["DEVICES"], "CONVERTED_DEVICES" in values), (devices, False))
        local = {**pets, "runtime": {"type": "TFLiteRuntime"}, "optimizers": [{"type": "MagnitudePruner"}],
                 "model_wrapper": {"type": "X", "parameters": {"model_path": "./a.tflite"}}}
        values, said = self.matrix(local)
        self.assertEqual((values["MODELS"], values["DEVICES"]), ("old/a.tflite", "lib:tflite"))
        self.assertIn("nothing here is like MagnitudePruner", said)

    def test_nothing_in_it_is_executed_by_make(self):
        evil = {**MODEL, "dll_libraries": [{"library": "tf", "load": "local", "dependency": "$(shell touch x).pb"},
                                           {"library": "tf", "load": "local", "dependency": "a\nall: ; touch x"}]}
        values, said = self.matrix({**CONFIG, "models": [evil]})
        self.assertNotIn("MODELS", values)
        self.assertEqual(said.count("names in a matrix hold no blanks"), 2)

    def test_make_reads_it(self):
        done = self.run_on(CONFIG, "-o", str(self.folder / "my.mk"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        show = self.folder / "show.mk"
        show.write_text("include $(MATRIX)\nshow:\n\t@echo '$(MODELS)|$(OPTS)|$(DEVICES)'\n")
        said = subprocess.run(["make", "-f", show, "show", f"MATRIX={self.folder / 'my.mk'}"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "old/made/net.pb|3|tcp://a:1/opencl:0\n")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["config.json", "my.mk", "show.mk"])

    def test_what_is_no_configuration_is_refused(self):
        for text, said in (("{", "not JSON"), ("[]", "no configuration"), ("{}", "no scenario of Kenning"), ('{"model_wrapper": []}', "model_wrapper: not an object"), ('{"models": 3}', "models: not a list"),
                           ('{"models": [3]}', "models[0]: not an object"), ('{"models": [{"name": 3}]}', "models[0].name: not a str"),
                           ('{"models": [], "opt_level": true}', "opt_level: not a int"), ('{"models": ' + "[" * 50000, "not JSON")):
            done = self.run_on(text)
            self.assertEqual(done.returncode, 3, text[:40])
            self.assertIn("error: ", done.stderr.splitlines()[-1])
            self.assertIn(said, done.stderr.splitlines()[-1])
        self.assertEqual(self.run_on('{"models": [], "x": ' + '[{"y":' * 5000 + "1" + "}]" * 5000 + "}").returncode, 3)


if __name__ == "__main__":
    unittest.main()
